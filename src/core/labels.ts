import type { Problems } from './problems.ts'

export interface LabelInput {
  readonly key: string
  readonly value: string
}

const KEY = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?$/

/** Converts a list of pairs to a record with unique plain keys. */
export function labelsOf(
  labels: readonly LabelInput[],
  problems: Problems,
  path = 'input.labels',
): Readonly<Record<string, string>> {
  for (const [i, { key }] of labels.entries()) {
    if (!KEY.test(key))
      problems.add(
        `${path}.${i}.key`,
        'must start and end with a letter or digit, and otherwise contain only these and . _ / -',
      )
    if (labels.findIndex((l) => l.key === key) < i) problems.add(`${path}.${i}.key`, `${key} occurs twice`)
  }
  return Object.fromEntries(labels.map(({ key, value }) => [key, value]))
}
