/** Labels and qualifiers while they are typed: a row for each, one of which may be empty. */
export interface Pair {
  readonly key: string
  readonly value: string
}

/** e.g. `app=shop`, to the last space of the value; null: the text is no label. */
export function pairOf(text: string): Pair | null {
  const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  return KEY.test(key) ? { key, value } : null
}
export const textOf = ({ key, value }: Pair): string => `${key}=${value}`

/** All different pairs, in the order of their texts. */
export const textsOf = (lists: Iterable<readonly Pair[]>): readonly string[] =>
  [...new Set([...lists].flat().map(textOf))].toSorted()

/** With the pair, whose key has one value. */
export const withPair = (pairs: readonly Pair[], pair: Pair): readonly Pair[] => [
  ...pairs.filter(({ key }) => key !== pair.key),
  pair,
]
export const hasPair = (pairs: readonly Pair[], { key, value }: Pair): boolean =>
  pairs.some((one) => one.key === key && one.value === value)

const isEmpty = ({ key, value }: Pair): boolean => key.trim() === '' && value === ''

/** The pairs as an input has them. */
export const pairsInput = (pairs: readonly Pair[]): readonly Pair[] =>
  pairs.filter((pair) => !isEmpty(pair)).map(({ key, value }) => ({ key: key.trim(), value }))

const KEY = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?$/
export const KEY_RULE = 'A key has letters and digits, and . _ / - between them.'

/** By row; null where there is no problem. */
export const pairProblems = (pairs: readonly Pair[]): readonly (string | null)[] =>
  pairs.map((pair, i) => {
    if (isEmpty(pair)) return null
    const key = pair.key.trim()
    if (!KEY.test(key)) return key === '' ? 'The key is missing.' : KEY_RULE
    return pairs.findIndex((other) => other.key.trim() === key) < i ? `${key} occurs twice.` : null
  })
