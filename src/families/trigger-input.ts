import type { builder } from '../graphql/schema/builder.ts'

/** Inputs of triggers in the API: each family adds those of its own, and whatever starts them takes one of all. */
type TriggerInputRef = ReturnType<typeof builder.inputType>
interface TriggerInputField {
  readonly type: TriggerInputRef
  readonly description: string
}
const inputs = new Map<string, TriggerInputField>()

/** @param name the trigger's */
export function addTriggerInput(name: string, type: TriggerInputRef, description: string): void {
  inputs.set(name, { type, description })
}
export const triggerInputs = (): ReadonlyMap<string, TriggerInputField> => inputs

/** For descriptions of texts that a trigger takes as a template. */
export const TRIGGER_EXPRESSIONS =
  'May hold `${…}` over `schedule.name`, `schedule.due`, `schedule.previous` and `schedule.count`.'
