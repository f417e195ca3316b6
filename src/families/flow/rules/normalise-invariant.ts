import { isName, NAME_RULE, type Problems } from '../../../core/problems.ts'

export interface InvariantAfter {
  readonly project: string
  readonly name?: string | null
  readonly sameValues?: readonly string[] | null
}
export interface InvariantInput {
  readonly description?: string | null
  readonly after: InvariantAfter
}
export interface InvariantSettings {
  readonly description: string
  /** The project whose root has to succeed first. */
  readonly afterProjectId: string
  readonly afterProject: string
  /** Name of that root; null: that of the one that asks. */
  readonly afterName: string | null
  /** Imports whose own values have to be equal, too, in their order. */
  readonly sameValues: readonly string[]
}

export function normaliseInvariant(
  { description, after }: InvariantInput,
  problems: Problems,
): Omit<InvariantSettings, 'afterProjectId'> {
  const { project: afterProject, name: afterName = null, sameValues } = after
  if (afterName !== null && !isName(afterName)) problems.add('input.after.name', NAME_RULE)
  for (const [i, name] of (sameValues ?? []).entries())
    if (!isName(name)) problems.add(`input.after.sameValues.${i}`, NAME_RULE)
  return { description: description ?? '', afterProject, afterName, sameValues: [...new Set(sameValues)].sort() }
}
