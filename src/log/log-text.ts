import type { Pool } from 'pg'
import { isPortableText } from '../core/portable.ts'
import type { PhaseChangeQuery } from '../core/ports/phase-change.ts'
import type { Logger } from '../logger.ts'
import { array, bigint, text } from '../store/column-types.ts'
import { statement } from '../store/statement.ts'
import { underAdvisoryLock } from '../store/under-advisory-lock.ts'
import { type Pruner, prunePeriodically } from './prune-periodically.ts'
import type { SequenceWindow } from './time-window.ts'
import { gatheredSql, lacksOneSql, partsOf } from './words.ts'

/**
 * The words of each stretch of the log, so that a search skips stretches without its words. An index of words per
 * change would be written with each change; this one is written once for some thousand.
 */

/** Changes of a stretch, or more if its last batch has more. */
const STRETCH = 2_000
/** Characters; a longer text is not kept. */
const MAX_TEXT = 1_000_000

const COLUMNS = [
  'names',
  'parent_paths',
  'project_names',
  'kinds',
  '"from"',
  '"to"',
  'actors',
  '"by"',
  'reasons',
  'messages',
]

const FORGET = statement({ text: 'delete from log_text where last_seq <= (select floor_seq from log_meta)' })
const INDEX = statement({
  text: `with next as materialized (
    select * from (
      select id, first_seq, n, sum(n) over (order by first_seq) - n as already from (
        select id, first_seq, n from log_batch
        where first_seq > greatest((select floor_seq from log_meta), (select max(last_seq) from log_text))
        order by first_seq limit ${STRETCH}
      ) b
    ) b where already < ${STRETCH}
  ), said as (
    select ${gatheredSql(`select y.said from next b join log_content p on p.batch_id = b.id
      cross join lateral (${COLUMNS.map((column) => `select unnest(p.${column}::text[]) as said`).join(' union all ')}) y`)} as text
  )
  insert into log_text (first_seq, last_seq, text)
    select min(b.first_seq), max(b.first_seq + b.n - 1), (select case when length(text) <= ${MAX_TEXT} then text end from said)
    from next b having sum(b.n) >= ${STRETCH}
  on conflict do nothing`,
})

/** Indexes the next stretch. False: there is none yet, or another process indexes. */
export const indexStep = async (pool: Pool): Promise<boolean> =>
  (await underAdvisoryLock(pool, 'indexLog', async (client) => {
    await FORGET.query(client, [])
    return (await INDEX.query(client, [])).rowCount
  })) === 1

/** Indexes what comes, every minute. Each engine does; they need no leader. */
export const createTextIndexer = ({ pool, logger }: { readonly pool: Pool; readonly logger: Logger }): Pruner =>
  prunePeriodically({ step: () => indexStep(pool), logger, what: 'Indexing the text of the log' })

const WITHOUT = statement({
  name: 'log_text_without',
  text: `select t.first_seq as first, t.last_seq as last from log_text t
    where t.first_seq > $1 and t.last_seq < $2 and t.text is not null
      and ${lacksOneSql('t.text', '$3::text[]')}
    order by t.first_seq`,
  params: [bigint, bigint, array(text)],
  row: { first: bigint, last: bigint },
})

/** The parts of a window, in its order, that may have matches of the query. All ends are exclusive. */
export async function partsWithWords(
  pool: Pool,
  words: PhaseChangeQuery['words'],
  { after, before }: SequenceWindow,
): Promise<readonly SequenceWindow[]> {
  const parts = [...new Set(words?.flatMap(partsOf))].filter(isPortableText)
  if (parts.length === 0) return [{ after, before }]
  const { rows } = await WITHOUT.query(pool, [after, before, parts])
  return without({ after, before }, rows)
}

/** Takes stretches, in their order, out of a window. */
export function without(
  { after, before }: SequenceWindow,
  stretches: readonly { readonly first: number; readonly last: number }[],
): readonly SequenceWindow[] {
  const parts: SequenceWindow[] = []
  let end = after
  for (const { first, last } of stretches) {
    if (first > end + 1) parts.push({ after: end, before: first })
    end = last
  }
  if (before > end + 1) parts.push({ after: end, before })
  return parts
}
