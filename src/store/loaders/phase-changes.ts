import type { PhaseChangeRecord } from '../../core/ports.ts'
import type { Client } from '../client.ts'
import type { Projects } from './objects.ts'
import { byKey, direction, type Window } from './window.ts'

/** Phase changes of objects, read beside the log's own stream. Only what is numbered and not pruned exists for readers. */

const SELECTION = `(b.first_seq + c.idx)::float8 as sequence, c.batch_id::text as "batchId", c.idx,
  c.object_id as "objectId", c.root_id as "rootId", c.parent_id as "parentId", c.project_name as "projectName",
  c.kind, c.name, c.machine, c."from", c."to", c.actor, c."by", c.reason, c.message, c.job_id as "jobId",
  c.revision, c.rejected, c.at`
const NUMBERED = 'log_batch b on b.id = c.batch_id and b.first_seq + c.idx > (select floor_seq from log_meta)'
const READABLE = `phase_change c join ${NUMBERED}`
const READABLE_OF_OBJECT = `object_phase_change c join ${NUMBERED}`

/** A page of each object's history, by sequence: one statement for all of them. */
export async function loadHistories(
  client: Client,
  ids: readonly string[],
  includeRejected: boolean,
  window: Window<number>,
): Promise<ReadonlyMap<string, readonly PhaseChangeRecord[]>> {
  const order = direction(window)
  // Batch ids of one tree grow in the order in which they were numbered, so its index has the order of the sequence.
  const { rows } = await client.query<{ key: string } & PhaseChangeRecord>({
    text: `select k.id as key, p.* from unnest($1::uuid[]) k(id) cross join lateral (
        select ${SELECTION} from ${READABLE_OF_OBJECT} where c.object_id = k.id and ($2 or not c.rejected)
          and ($3::bigint is null or b.first_seq + c.idx > $3) and ($4::bigint is null or b.first_seq + c.idx < $4)
        order by c.batch_id ${order}, c.idx ${order} limit $5
      ) p order by k.id, p.sequence`,
    values: [ids, includeRejected, window.after, window.before, window.limit],
  })
  return byKey(ids, rows, ({ key: _, ...record }) => record)
}

export async function countHistories(
  client: Client,
  ids: readonly string[],
  includeRejected: boolean,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ key: string; count: number }>({
    text: `select c.object_id as key, count(*)::int as count from ${READABLE_OF_OBJECT}
      where c.object_id = any($1::uuid[]) and ($2 or not c.rejected) group by c.object_id`,
    values: [ids, includeRejected],
  })
  return new Map(rows.map(({ key, count }) => [key, count]))
}

export interface PhaseChangeKey {
  readonly batchId: string
  readonly idx: number
}

/** Those that exist and may be seen, in no order. */
export async function loadPhaseChanges(
  client: Client,
  keys: readonly PhaseChangeKey[],
  projects: Projects,
): Promise<readonly PhaseChangeRecord[]> {
  const { rows } = await client.query<PhaseChangeRecord>({
    text: `select ${SELECTION} from unnest($1::bigint[], $2::int[]) k(batch_id, idx)
      join (${READABLE}) on c.batch_id = k.batch_id and c.idx = k.idx
      where $3::text[] is null or c.project_name = any($3)`,
    values: [keys.map(({ batchId }) => batchId), keys.map(({ idx }) => idx), projects],
  })
  return rows
}

/** The project of a tree that is, or was within what the log holds; otherwise null. */
export async function loadTreeProject(client: Client, rootId: string): Promise<string | null> {
  const { rows } = await client.query<{ project: string | null }>({
    text: `select coalesce(
      (select p.name from object o join project p on p.id = o.project_id where o.id = $1 and o.root_id = $1),
      (select c.project_name from ${READABLE} where c.root_id = $1 limit 1)
    ) as project`,
    values: [rootId],
  })
  return rows[0]?.project ?? null
}
