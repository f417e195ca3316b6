import type { Pool } from 'pg'
import type { Client } from '../store/client.ts'
import { array, nullable, text, timestamptz } from '../store/column-types.ts'
import { readMark } from '../store/log-mark.ts'
import { statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'
import { underAdvisoryLock } from '../store/under-advisory-lock.ts'
import { batchAt } from './search.ts'

/** Changes of one step, at least one batch. Small, so that a step takes milliseconds and hardly delays writers. */
const STEP = 2_000

/**
 * The result of one step. `advanced`: the floor moved. `removed`: rows below it were deleted. `done`: there was nothing to
 * prune. `elsewhere`: another process is pruning.
 */
export type PruneStep = 'advanced' | 'removed' | 'done' | 'elsewhere'

/** Selects batches, in the order of the log, until they make up a step. */
const within = (batches: string): string => `select * from (
    select *, sum(n) over (order by first_seq) - n as already from (${batches} limit ${STEP}) b
  ) b where already < ${STEP}`

/** A scalar subquery, not a join: only then does the index scan begin and end at it. */
const FLOOR = '(select floor_seq from log_meta)'

const REMOVE_SQL = statement({
  text: `with old as materialized (${within(`
    select id, first_seq, n from log_batch
    where first_seq <= ${FLOOR} and first_seq + n - 1 <= ${FLOOR} order by first_seq`)}
  ), contents as (
    delete from log_content where batch_id in (select id from old) returning batch_id, object_ids
  ), objects as (
    delete from log_object o using (
      select batch_id, unnest(object_ids) as object_id from contents
    ) c where o.object_id = c.object_id and o.batch_id = c.batch_id
  )
  delete from log_batch where id in (select id from old)`,
})

const STATE = ['object_id', 'root_id', 'parent_id', 'kind', 'name', 'phase', 'phase_since', 'revision']
const NEW_STATE = STATE.slice(1).map((column) => `${column} = excluded.${column}`)

/**
 * Moves the floor to the end of the last batch before the first one that is too young, so that no change younger than the
 * retention is pruned, even when clocks disagreed. Stores the state of the objects there.
 */
const ADVANCE_SQL = statement({
  text: `with next as materialized (${within(`
    select id, first_seq, n from log_batch
    where first_seq >= coalesce(${batchAt('first_seq', `${FLOOR} + 1`)}, 0) and first_seq + n - 1 > ${FLOOR}
    order by first_seq`)}
  ), changes as materialized (
    select b.first_seq, b.first_seq + c.idx as sequence, c.* from next b
    cross join lateral (select * from phase_change c where c.batch_id = b.id offset 0) c
  ), young as materialized (
    select min(first_seq) as first_seq from changes where at >= $1
  ), old as materialized (
    select b.* from next b, young y where y.first_seq is null or b.first_seq < y.first_seq
  ), last as materialized (
    select distinct on (c.object_id) c.object_id, c.root_id, c.parent_id, c.kind, c.name, c."to" as phase,
      c.at as phase_since, c.revision
    from changes c, young y
    where c.revision is not null and c.machine <> all ($2::text[])
      and c.sequence > ${FLOOR} and (y.first_seq is null or c.first_seq < y.first_seq)
    order by c.object_id, c.sequence desc
  ), kept as (
    insert into floor_state (${STATE.join(', ')}) select ${STATE.join(', ')} from last where phase <> 'GONE'
    on conflict (object_id) do update set ${NEW_STATE.join(', ')}
  ), gone as (
    delete from floor_state where object_id in (select object_id from last where phase = 'GONE')
  )
  update log_meta set floor_seq = (select max(first_seq + n - 1) from old) where exists (select from old)
  returning floor_seq`,
  params: [timestamptz, array(text)],
  row: { floor_seq: table.logMeta.floorSeq },
})

interface Pruning {
  /** Changes before it may go. */
  readonly before: Date
  /** Names of machines whose changes say nothing of an object's phase. */
  readonly secondaryMachines: readonly string[]
}

/**
 * One step towards a log without changes before a time, in one short transaction. The floor is committed first, and later
 * steps, of any process, delete the rows below it: after a crash in between no reader sees those rows, and the next step
 * deletes them. Takes no lock that a writer or a reader waits for.
 */
export const pruneStep = async (pool: Pool, pruning: Pruning): Promise<PruneStep> =>
  (await underAdvisoryLock(pool, 'pruneLog', (client) => step(client, pruning))) ?? 'elsewhere'

const MARK_FLOOR = statement({ text: 'update log_meta set floor_mark = $1', params: [nullable(text)] })

async function step(client: Client, { before, secondaryMachines }: Pruning): Promise<PruneStep> {
  const removed = await REMOVE_SQL.query(client, [])
  if (removed.rowCount) return 'removed'
  const advanced = await ADVANCE_SQL.query(client, [before, secondaryMachines])
  const [row] = advanced.rows
  if (!row) return 'done'
  // Verifies cursors at the floor once the change itself is deleted.
  const mark = await readMark(client, row.floor_seq)
  await MARK_FLOOR.query(client, [mark])
  return 'advanced'
}
