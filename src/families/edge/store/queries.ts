import type { Client } from '../../../store/client.ts'
import { array, bytea, float8, integer, json, nullable, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { plusMs, timeNow } from '../../../store/time.ts'
import type { Family } from '../../family.ts'
import type { Session } from '../rules/spec.ts'
import { requestFence } from './fences.ts'

const CRM_LEASES = statement({
  name: 'crm-leases',
  text: `select cloudlet_id as "cloudletId", epoch, extract(epoch from lease_until)::float8 * 1000 as until
        from crm_lease where cloudlet_id = any($1::uuid[])`,
  params: [array(uuid)],
  row: { cloudletId: table.crmLease.cloudletId, epoch: table.crmLease.epoch, until: float8 },
})

export const questions: Family['questions'] = {
  /** Sessions with a lease. */
  crmLeases: async (client, _root, asked) => {
    const { rows } = await CRM_LEASES.query(client, [asked])
    return asked.map((id) =>
      rows
        .filter(({ cloudletId }) => cloudletId === id)
        .map(({ epoch, until }) => ({ epoch, until: Math.round(until) })),
    )
  },
  /** The hash of a fence, as hex. */
  crmFence: async (_client, _root, asked) => asked.map((parts) => requestFence(parts).hash.toString('hex')),
}

// Takes the tree's lock shared: a rule that finds the lease expired either comes first or sees the renewed one.
const renew = (name: string, suffix: string) =>
  statement({
    name,
    text: `with u as (select * from unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash)),
    roots as (select o.id from object o where o.id in (select id from u) order by o.id for share ${suffix})
  update crm_lease l set lease_until = greatest(l.lease_until, ${plusMs(timeNow('$3'), '$5')}) from u
  where l.cloudlet_id = u.id and l.fence_hash = u.fence_hash and l.principal_id = $4 and l.cloudlet_id in (select id from roots)
  returning l.cloudlet_id as "objectId", l.fence_hash as hash, l.lease_until as "leaseUntil"`,
    params: [array(uuid), array(bytea), nullable(timestamptz), uuid, float8],
    row: { objectId: table.crmLease.cloudletId, hash: table.crmLease.fenceHash, leaseUntil: table.crmLease.leaseUntil },
  })
const RENEW = renew('renew-crm-leases', '')
const RENEW_UNLESS_LOCKED = renew('renew-crm-leases-skip', 'skip locked')
const HELD = statement({
  name: 'held-crm-leases',
  text: `select l.cloudlet_id as "objectId", l.fence_hash as hash from unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash)
    join crm_lease l on l.cloudlet_id = u.id and l.fence_hash = u.fence_hash where l.principal_id = $3`,
  params: [array(uuid), array(bytea), uuid],
  row: { objectId: table.crmLease.cloudletId, hash: table.crmLease.fenceHash },
})

const NOTE_CRM_SEEN = statement({
  name: 'note-crm-seen',
  text: `update agent a set seen_at = ${timeNow('$3')} where a.principal_id = $1 and a.instance in (
        select s.instance from cloudlet c, jsonb_to_recordset(c.sessions) as s(instance text)
        where c.object_id = any($2::uuid[]))`,
  params: [uuid, array(uuid), nullable(timestamptz)],
})

/** Renewing a session proves that its CRM is connected. */
async function noteSeen(
  client: Client,
  principalId: string,
  cloudletIds: readonly string[],
  time: Date | null,
): Promise<void> {
  await NOTE_CRM_SEEN.query(client, [principalId, cloudletIds, time])
}

export const renewSessions: NonNullable<Family['renew']> = async (client, fences, by) => {
  const { principalId, leaseMs, time, skipLocked } = by
  const fenced = [fences.map(({ objectId }) => objectId), fences.map(({ hash }) => hash)] as const
  const statement = skipLocked ? RENEW_UNLESS_LOCKED : RENEW
  const { rows } = await statement.query(client, [...fenced, time, principalId, leaseMs])
  const ids = rows.map(({ objectId }) => objectId)
  if (ids.length > 0) await noteSeen(client, principalId, ids, time)
  if (!skipLocked || rows.length === fences.length) return rows
  const held = await HELD.query(client, [...fenced, principalId])
  const isRenewed = (hash: Buffer) => rows.some((row) => row.hash.equals(hash))
  const locked = held.rows.filter(({ hash }) => !isRenewed(hash))
  return [...rows, ...locked.map((lease) => ({ ...lease, leaseUntil: null }))]
}

export interface NewLease {
  readonly cloudletId: string
  readonly epoch: number
  readonly fenceHash: Buffer
  readonly principalId: string
  readonly until: Date
}
const KEEP_CRM_LEASE = statement({
  name: 'keep-crm-lease',
  text: `insert into crm_lease (cloudlet_id, epoch, fence_hash, principal_id, lease_until) values ($1, $2, $3, $4, $5)
      on conflict (cloudlet_id, epoch) do update set fence_hash = excluded.fence_hash, lease_until = excluded.lease_until, stream = null`,
  params: [uuid, integer, bytea, uuid, timestamptz],
})

/** A process that connects again has no stream yet. */
export async function keepLease(client: Client, lease: NewLease): Promise<void> {
  await KEEP_CRM_LEASE.query(client, [lease.cloudletId, lease.epoch, lease.fenceHash, lease.principalId, lease.until])
}

const BEGIN_CRM_STREAM = statement({
  name: 'begin-crm-stream',
  text: 'update crm_lease set stream = $4 where cloudlet_id = $1 and epoch = $2 and principal_id = $3',
  params: [uuid, integer, uuid, uuid],
})

/** Sets the stream that carries the requests of a session. False: the session does not exist. */
export async function beginStream(
  client: Client,
  {
    cloudletId,
    epoch,
    principalId,
    stream,
  }: { cloudletId: string; epoch: number; principalId: string; stream: string },
): Promise<boolean> {
  const { rowCount } = await BEGIN_CRM_STREAM.query(client, [cloudletId, epoch, principalId, stream])
  return rowCount === 1
}

const READ_CRM_STREAM = statement({
  name: 'read-crm-stream',
  text: `select l.epoch, c.sessions from crm_lease l join cloudlet c on c.object_id = l.cloudlet_id
      where l.cloudlet_id = $1 and l.stream = $2`,
  params: [uuid, uuid],
  row: { epoch: table.crmLease.epoch, sessions: json<readonly Session[]>() },
})

/** The session of this stream; null: it has ended, was replaced, or has another stream. */
export async function readStream(client: Client, cloudletId: string, stream: string): Promise<Session | null> {
  const { rows } = await READ_CRM_STREAM.query(client, [cloudletId, stream])
  const [row] = rows
  return row?.sessions.find(({ epoch }) => epoch === row.epoch) ?? null
}

const END_CRM_STREAM = statement({
  name: 'end-crm-stream',
  text: `with ended as (delete from crm_lease where stream = $1 returning cloudlet_id)
      insert into wake (root_id, object_ids) select cloudlet_id, array[cloudlet_id] from ended`,
  params: [uuid],
})

/** Ends the session of a closed stream, unless it has another stream meanwhile, and enqueues a wake request for the cloudlet. */
export async function endStream(client: Client, stream: string): Promise<void> {
  await END_CRM_STREAM.query(client, [stream])
}
