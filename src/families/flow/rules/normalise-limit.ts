import type { Problems } from '../../../core/problems.ts'

export interface LimitInput {
  readonly description?: string | null
  readonly max?: number | null
  readonly maxPerKey?: number | null
}
export interface LimitSettings {
  readonly description: string
  /** Null: none; at least one of both is there. */
  readonly max: number | null
  readonly maxPerKey: number | null
}

export const MAX_OF_LIMIT = 100_000

export function normaliseLimit(input: LimitInput, problems: Problems): LimitSettings {
  const { description, max = null, maxPerKey = null } = input
  for (const [name, value] of Object.entries({ max, maxPerKey }))
    if (value !== null && !(Number.isInteger(value) && value >= 1 && value <= MAX_OF_LIMIT))
      problems.add(`input.${name}`, `must be from 1 to ${MAX_OF_LIMIT}`)
  if (max === null && maxPerKey === null) problems.add('input', 'must have max, maxPerKey or both')
  return { description: description ?? '', max, maxPerKey }
}
