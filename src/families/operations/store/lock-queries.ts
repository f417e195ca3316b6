import type { Client } from '../../../store/client.ts'
import { array, bigint, integer, json, nullable, text, uuid } from '../../../store/column-types.ts'
import type { Projects } from '../../../store/loaders/objects.ts'
import { direction, inOrder, type Window } from '../../../store/loaders/window.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { LockMode } from '../rules/lock-mode.ts'
import type { LockRequest } from './locks.ts'

/** Reads locks for the API: who holds a resource, who waits for it, and behind whom. */

/** A lock that a job holds or waits for. */
export interface LockRow extends LockRequest {
  readonly objectId: string
  readonly ticket: number
  readonly held: boolean
  /** From 1, among the waiters of the resource; null: the job holds it. */
  readonly position: number | null
  readonly declaredAt: Date
  readonly grantedAt: Date | null
}
/** Position of a lock in the list of all. */
export type LockPosition = readonly [resource: string, ticket: number, objectId: string]
export interface LockQuery {
  /** Absent: all resources. */
  readonly resource?: string | undefined
  /** Projects of the objects; null means all. */
  readonly projects: Projects
  /** Absent: all trees. */
  readonly rootId?: string | undefined
}

const LOCK_COLUMNS = `l.object_id as "objectId", l.resource, l.mode, l.ticket, l.held, l.declared_at as "declaredAt",
  l.granted_at as "grantedAt"`
const visible = (rootId: string): string => `($1::text is null or l.resource = $1) and ($2::uuid[] is null or exists (
  select from object o where o.id = l.object_id and o.project_id = any($2::uuid[])))
  and (${rootId}::uuid is null or exists (select from object o where o.id = l.object_id and o.root_id = ${rootId}))`

const LOCK_ROW = {
  objectId: table.lock.objectId,
  resource: table.lock.resource,
  mode: table.lock.mode,
  ticket: table.lock.ticket,
  held: table.lock.held,
  declaredAt: table.lock.declaredAt,
  grantedAt: table.lock.grantedAt,
  position: nullable(integer),
}
const POSITION_PARAMS = [nullable(text), nullable(bigint), nullable(uuid)] as const
// Each position continues from the previous row, so a page costs one pass over its resources' waiters, not one per row.
const lockPage = (order: 'asc' | 'desc') =>
  statement({
    text: `with page as materialized (
        select l.* from lock l where ${visible('$10')}
          and ($3::text is null or (l.resource, l.ticket, l.object_id) > ($3, $4::bigint, $5::uuid))
          and ($6::text is null or (l.resource, l.ticket, l.object_id) < ($6, $7::bigint, $8::uuid))
        order by l.resource ${order}, l.ticket ${order}, l.object_id ${order} limit $9
      ), spaced as (
        select *, coalesce(lag(ticket) over (partition by resource order by ticket), 0) as before from page
      )
      select ${LOCK_COLUMNS}, case when not l.held then sum((select count(*) from lock w where w.resource = l.resource
          and not w.held and w.ticket > l.before and w.ticket <= l.ticket)) over (partition by l.resource order by l.ticket)::integer
        end as position
      from spaced l order by l.resource ${order}, l.ticket ${order}, l.object_id ${order}`,
    params: [nullable(text), nullable(array(uuid)), ...POSITION_PARAMS, ...POSITION_PARAMS, bigint, nullable(uuid)],
    row: LOCK_ROW,
  })
const LOCK_PAGE = { asc: lockPage('asc'), desc: lockPage('desc') }

/** A page of them by resource and ticket. Positions also count locks that wait and are not visible to the caller. */
export async function listLocks(
  client: Client,
  { resource, projects, rootId, window }: LockQuery & { readonly window: Window<LockPosition> },
): Promise<readonly LockRow[]> {
  const after = window.after ?? NOWHERE
  const before = window.before ?? NOWHERE
  const page = LOCK_PAGE[direction(window)]
  const { rows } = await page.query(client, [
    resource ?? null,
    projects,
    ...after,
    ...before,
    window.limit,
    rootId ?? null,
  ])
  return inOrder(rows, window)
}
const NOWHERE = [null, null, null] as const

const COUNT_LOCKS = statement({
  text: `select count(*)::integer as n from lock l where ${visible('$3')}`,
  params: [nullable(text), nullable(array(uuid)), nullable(uuid)],
  row: { n: integer },
})

export async function countLocks(client: Client, { resource, projects, rootId }: LockQuery): Promise<number> {
  const { rows } = await COUNT_LOCKS.query(client, [resource ?? null, projects, rootId ?? null])
  return rows[0]?.n ?? 0
}

const POSITION = `case when not l.held then (select count(*)::integer from lock w
  where w.resource = l.resource and not w.held and w.ticket <= l.ticket) end`

const LOCKS_OF = statement({
  text: `select ${LOCK_COLUMNS}, ${POSITION} as position from lock l where l.object_id = any($1::uuid[]) order by l.resource`,
  params: [array(uuid)],
  row: LOCK_ROW,
})

/** The locks that each job holds or waits for, by resource. Every job has an entry. */
export async function locksOf(
  client: Client,
  objectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly LockRow[]>> {
  const { rows } = await LOCKS_OF.query(client, [objectIds])
  const found = new Map<string, LockRow[]>(objectIds.map((id) => [id, []]))
  for (const row of rows) found.get(row.objectId)?.push(row)
  return found
}

/** A resource that a job waits for. */
export interface LockWait extends LockRequest {
  /** From 1, among its waiters. */
  readonly position: number
  /** The first few conflicting rows before it, by ticket. */
  readonly ahead: readonly { readonly objectId: string; readonly mode: LockMode; readonly held: boolean }[]
}
const MAX_AHEAD = 10

const BLOCKERS_OF_LOCKS = statement({
  text: `select l.object_id as key, l.resource, l.mode, ${POSITION} as position, a.ahead
      from lock l cross join lateral (
        select json_agg(json_build_object('objectId', b.object_id, 'mode', b.mode, 'held', b.held) order by b.ticket) as ahead
        from (select * from lock b where b.resource = l.resource and b.ticket < l.ticket
          and (l.mode = 'EXCLUSIVE' or b.mode = 'EXCLUSIVE') order by b.ticket limit $2) b
      ) a
      where l.object_id = any($1::uuid[]) and not l.held and a.ahead is not null order by l.resource`,
  params: [array(uuid), bigint],
  row: {
    key: table.lock.objectId,
    resource: table.lock.resource,
    mode: table.lock.mode,
    position: integer,
    ahead: json<LockWait['ahead']>('json'),
  },
})

/** The resources that each job waits for, without those that are free for it. Every job has an entry. */
export async function blockersOfLocks(
  client: Client,
  objectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly LockWait[]>> {
  const { rows } = await BLOCKERS_OF_LOCKS.query(client, [objectIds, MAX_AHEAD])
  const found = new Map<string, LockWait[]>(objectIds.map((id) => [id, []]))
  for (const { key, ...wait } of rows) found.get(key)?.push(wait)
  return found
}
