import type { Pool } from 'pg'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { batchFilterSql, filterSql, Params } from './filter.ts'
import { HEAD_SQL, type HeadRow, type LogHead, toHead } from './head.ts'
import { RECORD_COLUMNS, type RecordRow, toRecord } from './record.ts'
import { batchAt, firstAtOrAfter, lastAtOrBefore, type Order, viewFor } from './search.ts'

export interface PageRange {
  /** Exclusive. */
  readonly after: number
  /** Exclusive. */
  readonly before?: number | undefined
  readonly limit: number
  /** The end of the range that is read when it has more than `limit` changes; the page itself is always oldest first. */
  readonly direction: 'forward' | 'backward'
}
export interface Page extends LogHead {
  /** Read in the same snapshot. */
  readonly changes: readonly PhaseChangeRecord[]
}

// In both statements `offset 0` and the inner `order by` keep the planner from flattening a subquery, so that it
// walks one index and looks up the other table: without statistics it would rather join whole tables.

/** Walks the batches in order and filters the changes of those with a match. */
function scanLog(
  filter: readonly string[],
  batchFilter: readonly string[],
  after: string | null,
  before: string | null,
  order: Order,
): string {
  // Dead index entries of batches before their numbering are at the end of the index until a vacuum.
  const conditions = ['b.first_seq is not null', 'b.first_seq + c.idx > m.floor_seq']
  if (batchFilter.length > 0) {
    conditions.push(
      `exists (select from log_content p where p.batch_id = b.id and ${batchFilter.join(' and ')} offset 0)`,
    )
  }
  if (after) {
    conditions.push(`b.first_seq >= coalesce(${batchAt('first_seq', `${after} + 1`)}, 0)`)
    conditions.push(`b.first_seq + c.idx > ${after}`)
  }
  if (before) conditions.push(`b.first_seq < ${before}`, `b.first_seq + c.idx < ${before}`)
  const own = ['c.batch_id = b.id', ...filter].join(' and ')
  return `from log_batch b
    cross join lateral (select * from phase_change c where ${own} order by c.idx${order}) c
    where ${conditions.join(' and ')}
    order by b.first_seq${order}, c.idx${order}`
}

/** Walks the batches of one object or one tree, whose order is that of the log. */
function scanTree(
  key: string,
  filter: readonly string[],
  after: string | null,
  before: string | null,
  order: Order,
): string {
  const conditions = [...filter, 'b.first_seq + c.idx > m.floor_seq']
  if (after) {
    const low = `(select batch_id from (${lastAtOrBefore(key, after)}) low)`
    conditions.push(`c.batch_id >= coalesce(${low}, 0)`, `b.first_seq + c.idx > ${after}`)
  }
  if (before) {
    const high = `(select batch_id from (${firstAtOrAfter(key, before)}) high)`
    conditions.push(`c.batch_id <= coalesce(${high}, ${Number.MAX_SAFE_INTEGER})`, `b.first_seq + c.idx < ${before}`)
  }
  return `from ${viewFor(key)} c
    cross join lateral (select l.first_seq from log_batch l where l.id = c.batch_id offset 0) b
    where ${conditions.join(' and ')}
    order by c.batch_id${order}, c.idx${order}`
}

/** The statement and its values. It returns at least one row: floor and head, with or without a change. */
export function pageSql(query: PhaseChangeQuery, range: PageRange): { text: string; values: unknown[] } {
  const params = new Params()
  const after = range.after > 0 ? `${params.add(range.after)}::bigint` : null
  const before = range.before === undefined ? null : `${params.add(range.before)}::bigint`
  const limit = params.add(range.limit)
  const filter = filterSql(query, params)
  const order = range.direction === 'forward' ? '' : ' desc'
  const key = keyOf(filter)
  const source = key
    ? scanTree(key, filter, after, before, order)
    : scanLog(filter, batchFilterSql(query, params), after, before, order)
  return {
    text: `with m as materialized (${HEAD_SQL})
      select m.*, r.* from m left join lateral (
        select ${RECORD_COLUMNS} ${source} limit ${limit}
      ) r on true order by r."sequence"`,
    values: params.values,
  }
}

/** The condition with an index: an object's is narrower than a tree's. */
const keyOf = (filter: readonly string[]): string | undefined =>
  filter.find((sql) => sql.startsWith('c.object_id')) ?? filter.find((sql) => sql.startsWith('c.root_id'))

type PageRow = HeadRow & (RecordRow | { readonly sequence: null })
const isRecord = (row: PageRow): row is PageRow & RecordRow => row.sequence !== null

/** One page of matching changes that are numbered and not pruned, in one snapshot. */
export async function readPage(pool: Pick<Pool, 'query'>, query: PhaseChangeQuery, range: PageRange): Promise<Page> {
  const { rows } = await pool.query<PageRow>(pageSql(query, range))
  const first = rows[0]
  if (!first) throw new Error('log_meta has no row: the database was not migrated.')
  return { ...toHead(first), changes: rows.filter(isRecord).map(toRecord) }
}

// Counts steps instead of changes: all changes of a step share the filtered columns. The floor is between batches.
const STEPS = `log_content p cross join lateral unnest(p.counts, p.project_names, p.kinds, p."to", p.actors, p.rejected, p."at")
    as s(n, project_name, kind, "to", actor, rejected, "at")`

/** Counts the matching changes that are numbered and not pruned. The query must be without words, which steps do not have. */
export async function countChanges(pool: Pool, query: PhaseChangeQuery): Promise<number> {
  const params = new Params()
  const filter = filterSql(query, params)
  const counted =
    query.objectId === undefined
      ? `select coalesce(sum(c.n), 0) as n from (select p.batch_id, p.root_id, p.project_id, 0 as idx, s.* from ${STEPS}) c`
      : 'select count(*) as n from object_phase_change c'
  const { rows } = await pool.query<{ n: number | string }>({
    text: `${counted} join log_batch b on b.id = c.batch_id
      where ${['b.first_seq + c.idx > (select floor_seq from log_meta)', ...filter].join(' and ')}`,
    values: params.values,
  })
  return Number(rows[0]?.n ?? 0)
}
