/**
 * SQL that finds the position (batch_id, idx) of a sequence. Batch ids are in the order of the log only within a tree:
 * across trees, a transaction that drew its id earlier may be numbered later. So a position in a tree is searched from the
 * batch of the sequence, over the few batches of the tree that were overtaken.
 */

export type Order = '' | ' desc'

/** The batch of a sequence, or the last one before it. */
export const batchAt = (column: 'id' | 'first_seq', sequence: string): string =>
  `(select x.${column} from log_batch x where x.first_seq <= ${sequence} order by x.first_seq desc limit 1)`

/** The view of the log with the index for a condition on `c`. */
export const viewFor = (key: string | undefined): string =>
  key?.startsWith('c.object_id') ? 'object_phase_change' : 'phase_change'

function search(key: string, side: string, wanted: string, order: Order): string {
  // `offset 0` and the inner order keep the planner from flattening the subqueries: it walks one index and looks up the
  // other table, and stops at the first hit. Without statistics it would rather join whole tables.
  return `select p.batch_id, p.idx
    from (
      select c.batch_id, c.idx from ${viewFor(key)} c
      where ${key} and c.batch_id ${side} order by c.batch_id${order}, c.idx${order}
    ) p cross join lateral (select l.first_seq from log_batch l where l.id = p.batch_id offset 0) q
    where ${wanted} order by p.batch_id${order}, p.idx${order} limit 1`
}

/**
 * The last position at or before a sequence, among the rows that the key selects; no row when there is none.
 * @param key a condition on the object or the root of `phase_change c`
 * @param sequence a bigint expression
 */
export const lastAtOrBefore = (key: string, sequence: string): string =>
  search(key, `<= ${batchAt('id', `${sequence} + 1`)}`, `q.first_seq + p.idx <= ${sequence}`, ' desc')

/** The first position at or after a sequence, including batches that are not numbered yet; no row when there is none. */
export const firstAtOrAfter = (key: string, sequence: string): string =>
  search(key, `>= ${batchAt('id', sequence)}`, `(q.first_seq is null or q.first_seq + p.idx >= ${sequence})`, '')
