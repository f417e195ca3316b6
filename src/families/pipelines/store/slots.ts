import { awaitAll } from '../../../store/await-all.ts'
import type { Client } from '../../../store/client.ts'
import { array, boolean, integer, nullable, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { ADMISSION, lockSlots, takeTickets } from '../../../store/limit-tickets.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { statementTime } from '../../../store/time.ts'
import type { Answer } from '../../family.ts'
import { GRANTED, REFUSED } from '../../limit-grant.ts'
import { type Pool, SLOT } from '../rules/details.ts'
import type { SlotGrant } from '../rules/limits.ts'
import { findRivals } from './rivals.ts'

/**
 * Admission of workers and jobs: a queue in the rows themselves, first in first out in each project, fair between projects.
 * Slots are counted from phases and work under one lock, so none is taken twice and none can leak.
 */

/**
 * A workload with a slot has it while it runs, and after that until its runtime has removed what was running: for rows of `workload`
 * whose state says that they may have one.
 */
export const HOLDS_SLOT = `(o.phase in ('STARTING', 'RUNNING', 'UNKNOWN')
    or exists (select from agent_work r where r.object_id = w.object_id and r.action = 'REMOVE' and r.is_open offset 0))`

const IS_WAITING = `o.phase = 'PENDING' and o.root_id is distinct from $2`
/** Waiters that ask for no limit. The index of all is no way to them, since it goes through those that wait for limits. */
const IS_UNLIMITED = '(case when w.limits is null then w.state end) = 0'

// The next waiters that limits let start, as many as slots are free. The level of a waiter is the number of its project's slots plus its
// position there, so a project with few slots comes first; equal levels are ordered by arrival.
/** @param limits SQL of the ids of those that ask now, and of the time; null: nobody waits for a limit, so that there is nothing to look up */
function next(limits: { readonly asking: string | null; readonly now: string } | null): string {
  const isLimited = limits !== null
  const { asking = null, now = '' } = limits ?? {}
  const most = `least((select n from free),
        greatest(0, coalesce(case $1 when 'WORKER' then p.max_workers else p.max_jobs end, 2147483647) - coalesce(h.n, 0)))`
  const inOrder = `select w.object_id, o.root_id, w.seq from workload w
      cross join lateral (select * from object where id = w.object_id offset 0) o
      where w.pool = $1 and w.project_id = p.id and ${isLimited ? IS_UNLIMITED : 'w.state = 0'} and ${IS_WAITING}
        and not exists (select from root_pause r where r.root_id = o.root_id offset 0)
      order by w.seq limit ${most}`
  const limited = `limited as materialized (
    select w.object_id, w.project_id, o.root_id, w.seq
    from (select object_id from limit_going union select unnest(${asking ?? 'null::uuid[]'})) t
    cross join lateral (select * from workload where object_id = t.object_id offset 0) w
    cross join lateral (select * from object where id = w.object_id offset 0) o
    where w.pool = $1 and w.state = 0 and w.limits is not null and ${IS_WAITING} and ${ADMISSION.passes('w.object_id')}
  )`
  return `with recursive held as materialized (
    select w.project_id as id, count(*)::integer as n from workload w join object o on o.id = w.object_id
    where w.pool = $1 and w.state = 1 and ${HOLDS_SLOT}
      and o.root_id is distinct from $2
    group by w.project_id
  ), free as materialized (
    select greatest(0, case $1 when 'WORKER' then c.max_workers else c.max_jobs end
      - coalesce((select sum(n) from held), 0))::integer as n from capacity c
  ), waiting as (
    (select project_id as id from workload where pool = $1 and state = 0 order by project_id limit 1)
    union all
    select (select w.project_id from workload w where w.pool = $1 and w.state = 0 and w.project_id > waiting.id
      order by w.project_id limit 1) from waiting where waiting.id is not null
  ), ${isLimited ? `${ADMISSION.passing({ kind: '$1', now, goes: '$2::uuid', most: '(select n from free)', ...(asking && { asking }) })}, ${limited}, ` : ''}next as (
    select q.object_id, q.root_id, q.seq,
      coalesce(h.n, 0) + row_number() over (partition by p.id order by q.seq) as level
    from waiting join project p on p.id = waiting.id left join held h on h.id = p.id
    cross join lateral (
      ${isLimited ? `select * from ((${inOrder}) union all select object_id, root_id, seq from limited where project_id = p.id) c order by seq limit ${most}` : inOrder}
    ) q
  )
  select object_id, root_id from next order by level, seq limit (select n from free)`
}

const NEXT_SLOTS = statement({
  name: 'next-slots',
  text: next(null),
  params: [text, nullable(uuid)],
  row: { object_id: table.workload.objectId, root_id: table.object.rootId },
})

// A limit that is gone has no tickets, so an object that asks for such limits alone has none.
const GRANT_SLOTS = statement({
  name: 'grant-slots',
  text: `with chosen as materialized (${next({ asking: '$3::uuid[]', now: '$4' })}), ${ADMISSION.granting({
    asking: '$3::uuid[]',
    ids: 'array(select object_id from chosen where object_id = any($3::uuid[]))',
    now: '$4',
  })}
    select a.id, case when a.id in (select object_id from chosen) then true
      when exists (select from limit_ticket t where t.object_id = a.id offset 0) then false end as granted, ${ADMISSION.grantOf('a.id')}
    from unnest($3::uuid[]) a(id)`,
  params: [text, nullable(uuid), array(uuid), timestamptz],
  row: { id: uuid, granted: nullable(boolean), due: nullable(timestamptz), leads: boolean },
})

/**
 * Grants slots, each with all limits of its workload. Null: all the limits that it waits for are gone.
 */
export const grantSlots: Answer<'slot'> = async (client, _root, wanted) => {
  const waits = await lockSlots(client)
  const limited = wanted.filter(({ limits }) => limits.length > 0)
  const now = new Date(wanted[0]?.now ?? 0)
  const [rung, rivals] = await awaitAll([takeTickets(client, limited, now), findRivals(client, limited)])
  const found = new Map<string, SlotGrant | null>()
  for (const pool of new Set(wanted.map(({ pool }) => pool))) {
    const ids = wanted.filter((one) => one.pool === pool && !rivals.get(one.id)?.givesWay).map(({ id }) => id)
    if (waits || limited.length > 0) {
      const { rows } = await GRANT_SLOTS.query(client, [pool, null, ids, now])
      for (const { id, granted, due, leads } of rows)
        found.set(id, granted === null ? null : { isGranted: granted, dueAt: due, leads: leads || rung })
    } else {
      const { rows } = await NEXT_SLOTS.query(client, [pool, null])
      for (const { object_id } of rows) found.set(object_id, GRANTED)
    }
  }
  return wanted.map(({ id, limits }) => {
    const grant = found.get(id)
    return grant === null && limits.length > 0 ? null : { ...(grant ?? REFUSED), ...rivals.get(id) }
  })
}

// The same rule as NEXT, for a workload that is not in the queue: if nobody waits, a project has all that is free and within its limit.
const FREE_SLOTS = statement({
  name: 'free-slots',
  text: `select case when not exists (select from workload where pool = $1 and state = 0) then greatest(0, least(
        (select case $1 when 'WORKER' then max_workers else max_jobs end from capacity) - coalesce(sum(h.n), 0),
        (select case $1 when 'WORKER' then max_workers else max_jobs end from project where id = $2)
          - coalesce(sum(h.n) filter (where h.id = $2), 0)
      ))::integer end as free
    from (
      select w.project_id as id, count(*)::integer as n from workload w join object o on o.id = w.object_id
      where w.pool = $1 and w.state = 1 and ${HOLDS_SLOT} group by w.project_id
    ) h`,
  params: [text, uuid],
  row: { free: nullable(integer) },
})

/**
 * The slots that a transaction may give to new workloads of a project before it has written them; null: others wait, and their order
 * decides. No other transaction gives or frees one meanwhile.
 */
export async function freeSlots(client: Client, pool: Pool, projectId: string): Promise<number | null> {
  const [, { rows }] = await awaitAll([lockSlots(client), FREE_SLOTS.query(client, [pool, projectId])])
  return rows[0]?.free ?? null
}

const wakeNextSlots = (name: string, isLimited: boolean) =>
  statement({
    name,
    text: `insert into wake (root_id, object_ids)
      select n.root_id, array_agg(n.object_id) from (${next(isLimited ? { asking: null, now: statementTime('$3') } : null)}) n
      where not exists (select from wake v where v.root_id = n.root_id and v.object_ids @> array[n.object_id] offset 0)
      group by n.root_id returning root_id`,
    params: [text, nullable(uuid), ...(isLimited ? [nullable(timestamptz)] : [])],
    row: { root_id: table.wake.rootId },
  })
const WAKE_NEXT_SLOTS = {
  free: wakeNextSlots('wake-next-slots', false),
  limited: wakeNextSlots('wake-next-limited-slots', true),
}

/**
 * Enqueues wake requests for workloads that may start now, unless they have one. A tree that is being deleted does not
 * count. Returns their roots.
 * @param time null: that of the database
 */
export async function wakeWaiting(
  client: Client,
  pool: Pool,
  time: Date | null,
  goes: string | null = null,
): Promise<readonly string[]> {
  const waits = await lockSlots(client)
  const { rows } = await (waits
    ? WAKE_NEXT_SLOTS.limited.query(client, [pool, goes, time])
    : WAKE_NEXT_SLOTS.free.query(client, [pool, goes]))
  return rows.map(({ root_id }) => root_id)
}

const dropTicketsOf = (which: string): string => `delete from limit_ticket t using workload w
    where w.object_id = t.object_id and ${which}
      and w.state <> case when t.granted_at is null then ${SLOT.WAITING} else ${SLOT.HELD} end`
const DROP_TICKETS = statement({
  name: 'drop-limit-tickets-of-workloads',
  text: dropTicketsOf('t.object_id = any($1::uuid[])'),
  params: [array(uuid)],
})

/** Drops the tickets of workloads that neither wait nor run. One may have been admitted again in this transaction, with new ones. */
export async function dropTickets(client: Client, ids: readonly string[]): Promise<void> {
  await DROP_TICKETS.query(client, [ids])
}

const DROP_STALE_TICKETS = statement({
  name: 'drop-stale-limit-tickets',
  text: dropTicketsOf("t.kind in ('WORKER', 'JOB')"),
})

/** An engine of a version without limits starts and ends workloads, and leaves their tickets as they are. */
export async function dropStaleTickets(client: Client): Promise<void> {
  await DROP_STALE_TICKETS.query(client, [])
}

const WAKE_BACKOFFS = statement({
  name: 'wake-workload-backoffs',
  text: `insert into wake (root_id, object_ids)
      select o.root_id, array_agg(o.id) from workload w
      cross join lateral (select is_open from agent_work where object_id = w.object_id offset 0) k
      cross join lateral (select * from object where id = w.object_id offset 0) o
      where w.state = 3 and not k.is_open and o.phase = 'PENDING'
        and not exists (select from wake v where v.root_id = o.root_id and v.object_ids @> array[o.id] offset 0)
      group by o.root_id`,
})

/**
 * Workloads between two attempts whose removal is done, and which no clock wakes: an engine of a version without retries has taken
 * the report of that.
 */
export async function wakeStalledAttempts(client: Client): Promise<void> {
  await WAKE_BACKOFFS.query(client, [])
}

const SET_CAPACITY = statement({
  name: 'set-capacity',
  text: 'update capacity set max_workers = $1, max_jobs = $2',
  params: [integer, integer],
})

/** Stores the slots of all projects together. Called before an engine starts. */
export async function setCapacity(
  client: Client,
  { maxWorkers, maxJobs }: { readonly maxWorkers: number; readonly maxJobs: number },
): Promise<void> {
  await SET_CAPACITY.query(client, [maxWorkers, maxJobs])
}
