import { type ListChoice, OBJECT_FILTER } from '../model/filter.ts'

/** The choice of a principal for the list of objects, kept by this browser as an address has it. */
const keyOf = (principal: string): string => `phaseline.objects.${principal}`

export const readChoice = (principal: string): ListChoice =>
  OBJECT_FILTER.read(localStorage.getItem(keyOf(principal)) ?? '')

/** Keeps this part of the choice, and what was chosen before besides. */
export function keepChoice(principal: string, { columns }: ListChoice): void {
  localStorage.setItem(keyOf(principal), OBJECT_FILTER.write({ columns }))
}
