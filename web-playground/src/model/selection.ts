/** The selected rows of a list, and the anchor of a range. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  /** The row that was ticked or unticked last: a range begins there. */
  readonly anchor: string | null
}
export const NONE: Selection = { ids: new Set(), anchor: null }

/** Ticks or unticks a row; with `range`, also all rows from the anchor to it. */
export function toggle({ ids, anchor }: Selection, id: string, rows: readonly string[], range: boolean): Selection {
  const on = !ids.has(id)
  const next = new Set(ids)
  for (const each of range ? between(rows, anchor, id) : [id]) {
    if (on) next.add(each)
    else next.delete(each)
  }
  return { ids: next, anchor: id }
}

/** Both ends included; only the row itself when the other end is not among the rows. */
function between(rows: readonly string[], a: string | null, b: string): readonly string[] {
  const [from, to] = [a === null ? -1 : rows.indexOf(a), rows.indexOf(b)]
  return from < 0 || to < 0 ? [b] : rows.slice(Math.min(from, to), Math.max(from, to) + 1)
}

export const selectAll = (ids: readonly string[]): Selection => ({ ids: new Set(ids), anchor: null })

/** Returns whether all of these rows are ticked, none, or some. */
export function ticked({ ids }: Selection, rows: readonly { readonly id: string }[]): 'all' | 'some' | 'none' {
  if (ids.size === 0) return 'none'
  return rows.length > 0 && rows.every(({ id }) => ids.has(id)) ? 'all' : 'some'
}
