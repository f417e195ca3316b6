/** Entries that say the same: the first one, and the number of the others. */
export interface Group<T> {
  readonly first: T
  readonly more: number
}

/** In the order of the first of each. */
export function grouped<T>(entries: readonly T[], sayingOf: (entry: T) => string): readonly Group<T>[] {
  return [...Map.groupBy(entries, sayingOf).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ first, more: others.length }],
  )
}
