import type { ObjectKind, WorkAction } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { array, boolean, bytea, float8, nullable, required, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { plusMs, statementTime } from './time.ts'

/** Work that outlives its object: a workload is removed even when its object is gone. */

export interface OrphanedWork {
  readonly objectId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly jobId: string | null
  readonly action: WorkAction
  readonly type: string
  readonly target: string | null
  readonly config: unknown
  readonly attempt: number
}

// Only the log still has the kind and the name of the object.
const FIND = statement({
  name: 'find-orphaned-work',
  text: `select w.object_id as "objectId", coalesce(c.kind, f.kind) as kind, coalesce(c.name, f.name) as name,
    w.job_id as "jobId", w.action, w.type, w.target, w.config, w.attempt
  from work w
  left join lateral (select kind, name from object_phase_change c where c.object_id = w.object_id
    order by c.batch_id desc, c.idx desc limit 1) c on true
  left join floor_state f on f.object_id = w.object_id
  where w.object_id = any($1::uuid[]) and coalesce(c.kind, f.kind) is not null
    and not exists (select from object o where o.id = w.object_id)`,
  params: [array(uuid)],
  row: {
    objectId: table.work.objectId,
    kind: table.objectKind,
    name: text,
    jobId: table.work.jobId,
    action: table.work.action,
    type: table.work.type,
    target: table.work.target,
    config: table.work.config,
    attempt: table.work.attempt,
  },
})

/** The work of those of the objects that are gone. */
export async function findOrphanedWork(client: Client, objectIds: readonly string[]): Promise<readonly OrphanedWork[]> {
  const { rows } = await FIND.query(client, [objectIds])
  return rows
}

const CLAIM = statement({
  name: 'claim-orphaned-work',
  text: `update work w set state = 1, fence_hash = u.fence_hash, principal_id = $3, instance = $4,
    attempt = w.attempt + 1, lease_until = ${plusMs(statementTime('$6'), '$5')}, offer_after = null
  from unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash)
  where w.object_id = u.id and not exists (select from object o where o.id = u.id)
    and ((w.state = 0 and (w.offer_after is null or w.offer_after <= ${statementTime('$6')})) or (w.state = 1 and w.lease_until <= ${statementTime('$6')}))
  returning w.object_id as id, w.lease_until as "leaseUntil"`,
  params: [array(uuid), array(bytea), uuid, text, float8, nullable(timestamptz)],
  row: { id: table.work.objectId, leaseUntil: required(table.work.leaseUntil) },
})

/**
 * Without its tree, orphaned work has no lock, so each row is claimed on its own. Returns the end of the lease of each
 * claimed object.
 */
export async function claimOrphanedWork(
  client: Client,
  claims: readonly { readonly objectId: string; readonly fenceHash: Buffer }[],
  by: { readonly principalId: string; readonly instance: string; readonly leaseMs: number; readonly time: Date | null },
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await CLAIM.query(client, [
    claims.map(({ objectId }) => objectId),
    claims.map(({ fenceHash }) => fenceHash),
    by.principalId,
    by.instance,
    by.leaseMs,
    by.time,
  ])
  return new Map(rows.map(({ id, leaseUntil }) => [id, leaseUntil]))
}

/** The last claim of the work of an object that is gone, by which late reports are judged. */
export interface LastWork {
  readonly fenceHash: Buffer | null
  readonly principalId: string | null
  readonly action: WorkAction
  readonly finished: boolean
}
const FIND_LAST = statement({
  name: 'find-last-work',
  text: `select object_id as id, fence_hash as "fenceHash", principal_id as "principalId", action, state = 2 as finished
      from work where object_id = any($1::uuid[])`,
  params: [array(uuid)],
  row: {
    id: table.work.objectId,
    fenceHash: table.work.fenceHash,
    principalId: table.work.principalId,
    action: table.work.action,
    finished: boolean,
  },
})

export async function findLastWork(
  client: Client,
  objectIds: readonly string[],
): Promise<ReadonlyMap<string, LastWork>> {
  const { rows } = await FIND_LAST.query(client, [objectIds])
  return new Map(rows.map((row) => [row.id, row]))
}

const FINISH = statement({
  name: 'finish-orphaned-work',
  text: `update work set state = 2, done_at = $2, lease_until = null, offer_after = null, due_at = null
      where object_id = any($1::uuid[]) and state < 2`,
  params: [array(uuid), timestamptz],
})

export async function finishOrphanedWork(client: Client, objectIds: readonly string[], now: Date): Promise<void> {
  await FINISH.query(client, [objectIds, now])
}
