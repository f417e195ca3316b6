/** A part of an ordered list: at most `limit` rows after and before positions, from its start or its end. */
export interface Window<Position> {
  readonly limit: number
  /** From the end; the rows come in the list's order all the same. */
  readonly backward: boolean
  readonly after: Position | null
  readonly before: Position | null
}

export const direction = (window: { readonly backward: boolean }): 'asc' | 'desc' => (window.backward ? 'desc' : 'asc')

/** The condition on the column that orders the list, for Prisma. */
export const between = ({ after, before }: Window<string>): { readonly gt?: string; readonly lt?: string } => ({
  ...(after !== null && { gt: after }),
  ...(before !== null && { lt: before }),
})

/** Rows that were read from the end come back to front. */
export const inOrder = <T>(rows: readonly T[], window: { readonly backward: boolean }): readonly T[] =>
  window.backward ? rows.toReversed() : rows

/** Rows of many keys in one result, each key's in the order they came. Every key has an entry. */
export function byKey<Row extends { readonly key: string }, T>(
  keys: readonly string[],
  rows: readonly Row[],
  toValue: (row: Row) => T,
): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>(keys.map((key) => [key, []]))
  for (const row of rows) found.get(row.key)?.push(toValue(row))
  return found
}
