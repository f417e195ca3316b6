import { type ListChoice, OBJECT_FILTER } from '../model/filter.ts'

/** The choice of a principal for the list of objects, kept by this browser as an address has it. */
const keyOf = (principal: string): string => `phaseline.objects.${principal}`

export function readChoice(principal: string): ListChoice {
  const { columns, roots } = OBJECT_FILTER.read(localStorage.getItem(keyOf(principal)) ?? '')
  return { columns, roots }
}

export function keepChoice(principal: string, choice: Partial<ListChoice>): void {
  localStorage.setItem(keyOf(principal), OBJECT_FILTER.write({ ...readChoice(principal), ...choice }))
}
