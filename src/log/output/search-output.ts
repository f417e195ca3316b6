import type { Pool } from 'pg'
import { isPortableText } from '../../core/portable.ts'
import type { Client } from '../../store/client.ts'
import { array, bigint, integer, nullable, text, timestamptz, uuid } from '../../store/column-types.ts'
import { statement } from '../../store/statement.ts'
import { containsAllSql, Params } from '../filter.ts'
import { without } from '../log-text.ts'
import { firstOf, stretchOf } from '../stretch.ts'
import type { SequenceWindow } from '../time-window.ts'
import { foldedSql, lacksOneSql } from '../words.ts'
import type { OutputEnd } from './output-end.ts'

export type OutputStream = 'STDOUT' | 'STDERR' | 'STEP' | 'SYSTEM'

/** Selects lines of one object, of one tree, or of projects. */
export interface OutputQuery {
  readonly objectId?: string | undefined
  readonly rootId?: string | undefined
  /** Ids; null: all. */
  readonly projects: readonly string[] | null
  readonly streams?: readonly OutputStream[] | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** As `wordsOf` makes them; a line must contain all. */
  readonly words?: readonly string[] | undefined
}

export interface OutputLine {
  /** Its place among all lines: they are in the order in which they were written. */
  readonly seq: number
  readonly objectId: string
  /** Its place among the lines of its object. */
  readonly n: string
  readonly at: Date
  readonly stream: OutputStream
  readonly text: string
}

export interface OutputRange {
  /** Exclusive, as is `before`. */
  readonly after: number
  readonly before: number | null
  readonly limit: number
  readonly direction: 'forward' | 'backward'
}

export interface OutputPage {
  /** Oldest first. */
  readonly lines: readonly OutputLine[]
  /**
   * The position at which the search stopped before the page was full, as in the log's pages; null: the page is full,
   * or the list has ended.
   */
  readonly reached: number | null
}

/** Lines whose texts one page may skip, and lines of a tree of which a page reads each. */
const SEARCHED = 2_000_000
const UNSEARCHED = 100_000_000
const SMALL_TREE = 50_000
/** Numbers of lines between which a page reads each, whatever else there is. */
const FEW = 1_000
/** Objects that a small tree has at most. */
const SMALL_TREE_OBJECTS = 2_000

const FIRST = statement({
  name: 'log_line_first',
  text: 'select seq - 1 as floor from log_line order by seq limit 1',
  row: { floor: bigint },
})

const SKIPPED = statement({
  name: 'log_line_text_without',
  text: `select t.first_seq as first, t.last_seq as last from log_line_text t
    where t.first_seq > $1 and t.last_seq < $2 and case
      when $3::uuid is not null and not ($3::uuid = any(t.roots)) then true
      when $4::uuid[] is not null and not ($4::uuid[] && t.projects) then true
      when t.to_at < $5::timestamptz or t.from_at >= $6::timestamptz then true
      else ${lacksOneSql('t.text', '$7::text[]')} end
    order by t.first_seq`,
  params: [
    ...([bigint, bigint, nullable(uuid), nullable(array(uuid))] as const),
    ...([nullable(timestamptz), nullable(timestamptz), array(text)] as const),
  ],
  row: { first: bigint, last: bigint },
})

const TREE_SIZE = statement({
  name: 'output_of_tree',
  text: `select count(*)::int as objects, coalesce(sum(t.kept_lines), 0)::int as lines
    from (select o.id from object o where o.root_id = $1 limit ${SMALL_TREE_OBJECTS + 1}) o left join log_tail t on t.object_id = o.id`,
  params: [uuid],
  row: { objects: integer, lines: integer },
})

/** A page of lines that match. It looks through a bounded part of the output. */
export async function searchOutput(
  pool: Pool,
  query: OutputQuery,
  range: OutputRange,
  end: OutputEnd,
): Promise<OutputPage> {
  // A reader that reads forward resumes at the end of the page: nothing may appear before it later.
  const last = range.direction === 'forward' ? end.settled : end.last
  const bounded = { ...range, before: Math.min(range.before ?? Number.POSITIVE_INFINITY, last + 1) }
  // A follower reads these many times a second.
  if (bounded.before - bounded.after <= FEW)
    return { lines: await readLines(pool, query, bounded, false), reached: null }
  if (await isSmall(pool, query)) return { lines: await readLines(pool, query, bounded, true), reached: null }
  const { rows } = await FIRST.query(pool, [])
  const length = query.words === undefined ? UNSEARCHED : SEARCHED
  const stretch = stretchOf(bounded, ALWAYS, { floor: rows[0]?.floor ?? last, head: last }, length)
  const cut = firstOf(await partsOf(pool, query, stretch), { direction: range.direction, end: stretch.end })
  const found: OutputLine[] = []
  for (const part of cut.parts) {
    const lines = await readLines(pool, query, { ...range, ...part, limit: range.limit - found.length }, false)
    if (range.direction === 'forward') found.push(...lines)
    else found.unshift(...lines)
    if (found.length >= range.limit) return { lines: found, reached: null }
  }
  return { lines: found, reached: cut.end }
}

const ALWAYS: SequenceWindow = { after: 0, before: Number.POSITIVE_INFINITY }

/** True if reading each line is cheap: indexes lead to them, and an object keeps a bounded number. */
async function isSmall(pool: Pool, { objectId, rootId }: OutputQuery): Promise<boolean> {
  if (objectId !== undefined) return true
  if (rootId === undefined) return false
  const { rows } = await TREE_SIZE.query(pool, [rootId])
  const { objects = 0, lines = 0 } = rows[0] ?? {}
  return objects <= SMALL_TREE_OBJECTS && lines <= SMALL_TREE
}

async function partsOf(
  pool: Pool,
  { rootId, projects, since, until, words }: OutputQuery,
  { after, before }: SequenceWindow,
): Promise<readonly SequenceWindow[]> {
  const { rows } = await SKIPPED.query(pool, [
    ...([after, before, rootId ?? null, rootId === undefined ? projects : null] as const),
    ...([since ?? null, until ?? null, (words ?? []).filter(isPortableText)] as const),
  ])
  return without({ after, before }, rows)
}

async function readLines(
  client: Client,
  query: OutputQuery,
  range: Omit<OutputRange, 'before'> & { readonly before: number },
  byObject: boolean,
): Promise<readonly OutputLine[]> {
  const { rows } = await client.query<OutputLine>(linesSql(query, range, byObject))
  return range.direction === 'forward' ? rows : rows.toReversed()
}

/**
 * The statement and its values. `offset 0` keeps the planner from flattening a subquery, so that it walks one index.
 * @param byObject whether the objects lead to the lines, rather than the order of all lines
 */
export function linesSql(
  query: OutputQuery,
  { after, before, limit, direction }: Omit<OutputRange, 'before'> & { readonly before: number },
  byObject: boolean,
): { text: string; values: unknown[] } {
  const params = new Params()
  const conditions = conditionsOf(query, params)
  // Not by the index on the order of all lines, however few lines are between the two.
  const seq = byObject ? '(l.seq + 0)' : 'l.seq'
  conditions.push(`${seq} > ${params.add(after)}::bigint`)
  if (Number.isFinite(before)) conditions.push(`${seq} < ${params.add(before)}::bigint`)
  const order = direction === 'forward' ? '' : ' desc'
  const most = params.add(limit)
  const objects = objectsSql(query, params)
  const columns = 'l.seq, l.object_id as "objectId", l.n::text as n, l.at, l.stream, l.text'
  if (!byObject) {
    if (objects) conditions.push(`exists (select from object o where o.id = l.object_id and ${objects} offset 0)`)
    return {
      text: `select ${columns} from log_line l where ${conditions.join(' and ')} order by l.seq${order} limit ${most}`,
      values: params.values,
    }
  }
  const lines = `select * from log_line l where l.object_id = o.id and ${conditions.join(' and ')} order by l.n${order} limit ${most}`
  return {
    text: `select ${columns} from (select o.id from object o where ${objects} offset 0) o cross join lateral (${lines}) l
      order by l.seq${order} limit ${most}`,
    values: params.values,
  }
}

function objectsSql({ objectId, rootId, projects }: OutputQuery, params: Params): string | null {
  if (objectId !== undefined) return `o.id = ${params.add(objectId)}::uuid`
  if (rootId !== undefined) return `o.root_id = ${params.add(rootId)}::uuid`
  return projects && `o.project_id = any(${params.add(projects)}::uuid[])`
}

function conditionsOf({ streams, since, until, words }: OutputQuery, params: Params): string[] {
  const conditions: string[] = []
  if (streams !== undefined) conditions.push(`l.stream = any(${params.add(streams)}::text[])`)
  if (since !== undefined) conditions.push(`l.at >= ${params.add(since)}::timestamptz`)
  if (until !== undefined) conditions.push(`l.at < ${params.add(until)}::timestamptz`)
  // Lines of the system are not what the work has said.
  if (words !== undefined) conditions.push("l.stream <> 'SYSTEM'", containsAllSql(foldedSql('l.text'), words, params))
  return conditions
}
