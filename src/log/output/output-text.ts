import type { Pool } from 'pg'
import type { Logger } from '../../logger.ts'
import type { Client } from '../../store/client.ts'
import { bigint, integer } from '../../store/column-types.ts'
import { statement } from '../../store/statement.ts'
import { underAdvisoryLock } from '../../store/under-advisory-lock.ts'
import { type Pruner, prunePeriodically } from '../prune-periodically.ts'
import { gatheredSql } from '../words.ts'
import { OutputEnds } from './output-end.ts'

/**
 * The words of each stretch of all output, each word once, with the trees, projects and times of its lines, so that a
 * search skips stretches. It is the index of phase changes (`log-text.ts`), for lines.
 */

/** Lines of a stretch. */
const STRETCH_LINES = 2_000
/** Characters; a longer text is not kept. */
const MAX_TEXT = 1_000_000
/** Trees, or projects; more are not kept. */
const MAX_PLACES = 64
/** Stretches that one step compares with their lines; each comes up within the hour. */
const CHECKED = 20

// A word of a search has no blank, so that it is within one of the parts. Lines of the system are written over others later.
const SAID = `select ${gatheredSql(`select w.word as said
  from line l cross join lateral string_to_table(l.text collate "C", ' ') w(word) where l.stream <> 'SYSTEM'`)} as text`
const placesOf = (column: 'root_id' | 'project_id'): string =>
  `(select case when count(*) <= ${MAX_PLACES} then coalesce(array_agg(p.id), '{}') end
    from (select distinct o.${column} as id from line l join object o on o.id = l.object_id) p)`
const CONTENT = `count(*)::int as lines, min(l.at) as from_at, max(l.at) as to_at,
  ${placesOf('root_id')} as roots, ${placesOf('project_id')} as projects,
  (select case when length(s.text) <= ${MAX_TEXT} then s.text end
    from (select coalesce((${SAID}), '') as text) s) as text`

const INDEX = statement({
  text: `with line as materialized (
    select l.seq, l.object_id, l.at, l.stream, l.text from log_line l
    where l.seq > coalesce((select max(last_seq) from log_line_text), 0) and l.seq <= $1
    order by l.seq limit ${STRETCH_LINES}
  )
  insert into log_line_text (first_seq, last_seq, lines, from_at, to_at, roots, projects, text, checked_at)
    select coalesce((select max(last_seq) from log_line_text), 0) + 1, max(l.seq), ${CONTENT}, now()
    from line l having count(*) = ${STRETCH_LINES}
  on conflict do nothing`,
  params: [bigint],
})

const DUE = statement({
  text: `select t.first_seq as first, t.last_seq as last, t.lines,
      (select count(*)::int from log_line l where l.seq between t.first_seq and t.last_seq) as left
    from (select * from log_line_text where checked_at < now() - interval '1 hour' order by first_seq limit ${CHECKED}) t
    order by t.first_seq`,
  row: { first: bigint, last: bigint, lines: integer, left: integer },
})
const CHECK = statement({ text: 'update log_line_text set checked_at = now() where first_seq = $1', params: [bigint] })
const REWRITE = statement({
  text: `with line as materialized (
    select l.seq, l.object_id, l.at, l.stream, l.text from log_line l where l.seq between $1 and $2
  ), said as (select ${CONTENT} from line l)
  update log_line_text t set lines = s.lines, roots = s.roots, projects = s.projects, text = s.text, checked_at = now(),
    from_at = coalesce(s.from_at, t.from_at), to_at = coalesce(s.to_at, t.to_at)
  from said s where t.first_seq = $1`,
  params: [bigint, bigint],
})
// Merges a stretch into the one before, so that stretches leave no gap between numbers.
const MERGE = statement({
  text: `with gone as (
    delete from log_line_text t where t.first_seq = $1 and exists (select from log_line_text p where p.last_seq = t.first_seq - 1)
    returning t.first_seq, t.last_seq
  ) update log_line_text p set last_seq = g.last_seq from gone g where p.last_seq = g.first_seq - 1`,
  params: [bigint],
})

/** Lines that were deleted, with their objects or as the oldest of one, leave the index within an hour. True: there may be more to check. */
async function checkStretches(client: Client): Promise<boolean> {
  const { rows } = await DUE.query(client, [])
  for (const { first, last, lines, left } of rows) {
    if (left === lines) await CHECK.query(client, [first])
    else await REWRITE.query(client, [first, last])
    if (left === 0) await MERGE.query(client, [first])
  }
  return rows.length === CHECKED
}

/** Indexes the next stretch, or checks earlier ones. False: nothing is left to do, or another process indexes. */
export async function indexOutputStep(pool: Pool, ends: OutputEnds): Promise<boolean> {
  const { settled } = await ends.find()
  const indexed = await underAdvisoryLock(pool, 'indexOutput', async (client) => await INDEX.query(client, [settled]))
  return indexed !== null && ((indexed.rowCount ?? 0) > 0 || (await checkStretches(pool)))
}

/** Indexes what comes, every minute. Each engine does; they need no leader. */
export function createOutputIndexer({ pool, logger }: { readonly pool: Pool; readonly logger: Logger }): Pruner {
  const ends = new OutputEnds(pool)
  return prunePeriodically({ step: () => indexOutputStep(pool, ends), logger, what: 'Indexing the output of objects' })
}
