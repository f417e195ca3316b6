import type { Place } from '../../core/can-read.ts'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import type { Client } from '../client.ts'
import { array, bigint, boolean, float8, integer, joinedAll, nullable, text, uuid } from '../column-types.ts'
import { statement } from '../statement.ts'
import { PHASE_CHANGE, phaseChange } from '../views.ts'
import type { Projects } from './objects.ts'
import { direction, type Window } from './window.ts'

/** Phase changes of objects, read beside the log's own stream. Only what is numbered and not pruned exists for readers. */

const selectionFrom = (batch: 'b' | 'c'): string =>
  `(${batch}.first_seq + c.idx)::float8 as sequence, c.batch_id::text as "batchId", ${PHASE_CHANGE}`
const FLOOR = '(select floor_seq from log_meta)'
const READABLE = `phase_change c join log_batch b on b.id = c.batch_id and b.first_seq + c.idx > ${FLOOR}`
/**
 * Batches that are read for each object in addition to one for each requested change: some contain only refusals, and
 * the one with the cursor may have no further change.
 */
const SPARE = 8

/** A page of each object's history, by sequence: one statement for all of them, or two where refusals fill batches. */
export async function loadHistories(
  client: Client,
  ids: readonly string[],
  includeRejected: boolean,
  window: Window<number>,
): Promise<ReadonlyMap<string, readonly PhaseChangeRecord[]>> {
  const { found, cut } = await readHistories(client, ids, includeRejected, window, window.limit + SPARE)
  const short = cut.filter((id) => (found.get(id)?.length ?? 0) < window.limit)
  if (short.length === 0) return found
  const whole = await readHistories(client, short, includeRejected, window, null)
  return new Map([...found, ...whole.found])
}

const HISTORY = joinedAll({ sequence: float8, batchId: text, ...phaseChange })

// Objects of one query share most of their batches, so each batch is unpacked once. Batch ids of one tree grow in the
// order in which they were numbered: an object's batches have the order of the sequence.
const histories = (order: 'asc' | 'desc') =>
  statement({
    text: `with near as materialized (
    select k.id, n.* from unnest($1::uuid[]) k(id) cross join lateral (
      select o.batch_id, b.first_seq from log_object o join log_batch b on b.id = o.batch_id
      where o.object_id = k.id and b.first_seq + b.n - 1 > greatest(${FLOOR}, $3::bigint)
        and ($4::bigint is null or b.first_seq < $4)
      order by o.batch_id ${order} limit $6::bigint
    ) n
  ), ends as materialized (
    select id, min(batch_id) as first, max(batch_id) as last, count(*) as n from near group by id
  ), batches as materialized (
    select distinct batch_id, first_seq from near
  ), changes as materialized (
    select c.*, b.first_seq, row_number() over (partition by c.object_id order by c.batch_id ${order}, c.idx ${order}) as place
    from batches b cross join lateral (
      select * from phase_change c where c.batch_id = b.batch_id and c.object_id = any($1) offset 0
    ) c join ends e on e.id = c.object_id and c.batch_id between e.first and e.last
    where ($2 or not c.rejected) and b.first_seq + c.idx > greatest(${FLOOR}, $3::bigint)
      and ($4::bigint is null or b.first_seq + c.idx < $4)
  )
  select e.id as key, coalesce(e.n >= $6, false) as cut, p.* from ends e left join lateral (
    select ${selectionFrom('c')} from changes c where c.object_id = e.id and c.place <= $5
  ) p on true order by e.id, p.sequence`,
    params: [array(uuid), boolean, nullable(bigint), nullable(bigint), bigint, nullable(bigint)],
    row: { key: uuid, cut: boolean, ...HISTORY },
  })
const HISTORIES = { asc: histories('asc'), desc: histories('desc') }

async function readHistories(
  client: Client,
  ids: readonly string[],
  includeRejected: boolean,
  window: Window<number>,
  most: number | null,
) {
  const { after, before, limit } = window
  const { rows } = await HISTORIES[direction(window)].query(client, [ids, includeRejected, after, before, limit, most])
  const found = new Map<string, PhaseChangeRecord[]>(ids.map((id) => [id, []]))
  const cut = new Set<string>()
  for (const { key, cut: isCut, ...record } of rows) {
    if (isCut) cut.add(key)
    const { sequence } = record
    if (sequence !== null) found.get(key)?.push({ ...record, sequence })
  }
  return { found, cut: [...cut] }
}

const COUNT_HISTORIES = statement({
  text: `select c.object_id as key, count(*)::int as count
      from (select distinct batch_id from log_object where object_id = any($1::uuid[]) offset 0) o
      join log_batch b on b.id = o.batch_id
      cross join lateral (select * from phase_change c where c.batch_id = b.id and c.object_id = any($1) offset 0) c
      where ($2 or not c.rejected) and b.first_seq + c.idx > ${FLOOR} group by c.object_id`,
  params: [array(uuid), boolean],
  row: { key: uuid, count: integer },
})

export async function countHistories(
  client: Client,
  ids: readonly string[],
  includeRejected: boolean,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT_HISTORIES.query(client, [ids, includeRejected])
  return new Map(rows.map(({ key, count }) => [key, count]))
}

export interface PhaseChangeKey {
  readonly batchId: string
  readonly idx: number
}

const LOAD_PHASE_CHANGES = statement({
  text: `select ${selectionFrom('b')} from (
        select batch_id, array_agg(idx) as idxs from unnest($1::bigint[], $2::int[]) k(batch_id, idx) group by batch_id
      ) k join (${READABLE}) on c.batch_id = k.batch_id and c.idx = any(k.idxs)
      where $3::uuid[] is null or c.project_id = any($3)`,
  params: [array(bigint), array(integer), nullable(array(uuid))],
  row: { sequence: float8, batchId: text, ...phaseChange },
})

/** Existing changes that the caller may see, in no order. */
export async function loadPhaseChanges(
  client: Client,
  keys: readonly PhaseChangeKey[],
  projects: Projects,
): Promise<readonly PhaseChangeRecord[]> {
  const { rows } = await LOAD_PHASE_CHANGES.query(client, [
    keys.map(({ batchId }) => batchId),
    keys.map(({ idx }) => idx),
    projects,
  ])
  return rows
}

const LOAD_TREE_PLACE = statement({
  text: `select root_id as "rootId", project_id as "projectId" from (
      (select o.root_id, o.project_id from object o where o.id = $1 and o.root_id = $1)
      union all
      (select c.root_id, c.project_id from ${READABLE} where c.root_id = $1 limit 1)
    ) t limit 1`,
  params: [uuid],
  row: { rootId: uuid, projectId: nullable(uuid) },
})

/** The project and tree of a tree that exists, or existed within the retention of the log; otherwise null. */
export async function loadTreePlace(client: Client, rootId: string): Promise<Place | null> {
  const { rows } = await LOAD_TREE_PLACE.query(client, [rootId])
  return rows[0] ?? null
}
