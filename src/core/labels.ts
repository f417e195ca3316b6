import type { Problems } from './problems.ts'

export interface LabelInput {
  readonly key: string
  readonly value: string
}

const KEY = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?$/

/** Converts a list of pairs to a record: at most 64, with unique plain keys and short values. */
export function labelsOf(
  labels: readonly LabelInput[],
  problems: Problems,
  path = 'input.labels',
): Readonly<Record<string, string>> {
  for (const [i, { key, value }] of labels.entries()) {
    if (!KEY.test(key))
      problems.add(
        `${path}.${i}.key`,
        'must start and end with a letter or digit, and otherwise contain only these and . _ / -',
      )
    if (value.length > 255) problems.add(`${path}.${i}.value`, 'must have at most 255 characters')
    if (labels.findIndex((l) => l.key === key) < i) problems.add(`${path}.${i}.key`, `${key} occurs twice`)
  }
  if (labels.length > 64) problems.add(path, 'must not have more than 64 entries')
  return Object.fromEntries(labels.map(({ key, value }) => [key, value]))
}
