import type { HeldUpTicket } from '../core/blocker.ts'
import type { Client } from './client.ts'
import { array, boolean, integer, json, nullable, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/**
 * Tickets of limits. An object takes one for each limit and key that it asks for, waits with all of them, and holds all of them from
 * its start to its end. There is no other counter: what a limit has left is counted from these rows, under the lock of slots, in the
 * transaction that starts the object or has seen its end.
 *
 * A kind, a limit and a key have a queue. The first in it starts, unless it cannot for another reason: its tree is paused, or another
 * limit is used up. Then it holds up nobody, since it may wait for what holds a limit and waits for one that comes after it.
 */

/** Held until the transaction ends, so that the next one sees the slots and tickets that this one takes or frees. */
const LOCK_SLOTS = statement({
  name: 'lock-slots',
  text: 'select lock_slots() as waits',
  row: { waits: boolean },
})

/** Slots, what places hold, and tickets are counted under this lock only. True: somebody waits for a limit. */
export async function lockSlots(client: Client): Promise<boolean> {
  const { rows } = await LOCK_SLOTS.query(client, [])
  return rows[0]?.waits === true
}

/** A ticket that is found by its object: a plan of a time without waiters would go through the index of all waiters for it. */
const waits = (ticket: string): string => `coalesce(${ticket}.granted_at, '-infinity') = '-infinity'`

interface Passing {
  /** SQL of the kind, as text; null: all kinds, each with queues of its own. */
  readonly kind: string | null
  /** SQL of a root that is being deleted, or null. */
  readonly goes?: string
  /** SQL of how many are of use of each queue, or null. */
  readonly most?: string
  /** SQL of the last place in the queues that is of use; absent: all are. */
  readonly until?: string
}

/**
 * Parts of a `with recursive` that say which tickets may be granted now: `limit_passed`. Limits with a queue are found one by one in the
 * index. One with a bound of all keys together is walked in its order until it is full. The cost of another one grows with its keys alone:
 * all but the first few that wait with a key are left out, and each of these keys has a holder.
 */
function passing({ kind, goes = 'null::uuid', most = 'null::integer', until }: Passing): string {
  const OF_KIND = `${kind === null ? "kind > ''" : `kind = ${kind}`} and granted_at is null`
  // With one kind, the comparison of both would begin at the first ticket of the kind.
  const AFTER = kind === null ? '(kind, limit_id) > (q.kind, q.limit_id)' : 'limit_id > q.limit_id'
  const IN_QUEUE = 't.kind = q.kind and t.limit_id = q.limit_id and t.granted_at is null'
  const MAY_GO = `${until ? `t.seq <= ${until} and ` : ''}not exists (select from object o left join root_pause r on r.root_id = o.root_id
          where o.id = t.object_id and (r.root_id is not null or o.root_id = ${goes}) offset 0)
        and not exists (select from limit_ticket s where s.object_id = t.object_id and ${waits('s')}
          and (s.limit_id not in (select limit_id from limit_open) or (s.limit_id, s.key) in (select limit_id, key from limit_full))
          offset 0)`
  return `limit_queue as (
    (select kind, limit_id from limit_ticket where ${OF_KIND} order by kind, limit_id limit 1)
    union all
    select n.kind, n.limit_id from limit_queue q cross join lateral (
      select kind, limit_id from limit_ticket where ${OF_KIND} and ${AFTER} order by kind, limit_id limit 1
    ) n
  ), limit_held as materialized (
    select l.limit_id, h.key, count(*)::integer as n from (select distinct limit_id from limit_queue) l
    cross join lateral (
      select key from limit_ticket where limit_id = l.limit_id and granted_at is not null offset 0
    ) h group by l.limit_id, h.key
  ), limit_full as materialized (
    select h.limit_id, h.key from limit_held h join flow_limit l on l.id = h.limit_id where h.n >= l.max_per_key
  ), limit_open as materialized (
    select q.kind, q.limit_id, l.max - coalesce(t.n, 0) as room, l.max_per_key
    from limit_queue q join flow_limit l on l.id = q.limit_id
    left join (select limit_id, sum(n)::integer as n from limit_held group by limit_id) t on t.limit_id = q.limit_id
    where l.max is null or l.max > coalesce(t.n, 0)
  ), limit_key as (
    select q.*, n.key from limit_open q cross join lateral (
      select t.key from limit_ticket t where ${IN_QUEUE} order by t.key limit 1) n
    where q.room is null
    union all
    select q.kind, q.limit_id, q.room, q.max_per_key, n.key from limit_key q cross join lateral (
      select t.key from limit_ticket t where ${IN_QUEUE} and t.key > q.key order by t.key limit 1) n
  ), limit_next as (
    select kind, limit_id, least(room, ${most}) as room, max_per_key, null::uuid as object_id, null::text as key, 0::bigint as seq,
      array[]::text[] as keys
    from limit_open where room is not null
    union all
    select q.kind, q.limit_id, q.room - 1, q.max_per_key, n.object_id, n.key, n.seq,
      case when q.max_per_key is null then q.keys else q.keys || n.key end
    from limit_next q cross join lateral (
      select t.object_id, t.key, t.seq from limit_ticket t
      where ${IN_QUEUE} and t.seq > q.seq and (t.limit_id, t.key) not in (select limit_id, key from limit_full) and ${MAY_GO}
        and (q.max_per_key is null or q.max_per_key > (select count(*) from unnest(q.keys) k where k = t.key)
          + coalesce((select h.n from limit_held h where h.limit_id = t.limit_id and h.key = t.key), 0))
      order by t.seq limit 1
    ) n where q.room > 0
  ), limit_passed as materialized (
    select kind, object_id, limit_id, key, seq from limit_next where object_id is not null
    union all
    select q.kind, n.object_id, q.limit_id, q.key, n.seq
    from limit_key q left join limit_held h on h.limit_id = q.limit_id and h.key = q.key
    cross join lateral (
      select t.object_id, t.seq from limit_ticket t where ${IN_QUEUE} and t.key = q.key and ${MAY_GO}
      order by t.seq limit greatest(0, least(q.max_per_key - coalesce(h.n, 0), ${most}))
    ) n
  )`
}

/** True if limits let the object start now. @param id SQL of its id */
const passes = (id: string): string => `not exists (select from limit_ticket q
    where q.object_id = ${id} and ${waits('q')}
      and (q.object_id, q.limit_id, q.key) not in (select object_id, limit_id, key from limit_passed) offset 0)`

/**
 * Grants the tickets of objects, in the statement that finds that they may start: trees that share a transaction ask side by side.
 * @param ids SQL of an array of their ids
 * @param now SQL of the time
 */
const granting = (ids: string, now: string): string =>
  `update limit_ticket t set granted_at = ${now} where object_id = any(${ids}) and ${waits('t')}`

/** For statements of others that find what may start. */
export const LIMITS = { passing, passes, granting }

// An object that asks holds nothing. If it has a granted ticket, the release of that is still to come in this transaction.
const TAKE = statement({
  name: 'take-limit-tickets',
  text: `insert into limit_ticket (object_id, limit_id, key, kind, asked_at)
    select a.object_id, l.id, a.key, o.kind::text, $4
    from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality a(object_id, name, key, n)
    cross join lateral (select kind, project_id from object where id = a.object_id offset 0) o
    join flow_limit l on l.project_id = o.project_id and l.name = a.name
    order by a.n
    on conflict (object_id, limit_id, key) do update
      set granted_at = null, seq = excluded.seq, asked_at = excluded.asked_at where limit_ticket.granted_at is not null`,
  params: [array(uuid), array(text), array(text), timestamptz],
})

export interface AskedLimits {
  readonly id: string
  readonly limits: readonly { readonly limit: string; readonly key: string }[]
}

/** Puts objects into the queues, unless they are there. Nobody asks for a limit that is gone. Under the lock of slots. */
export async function takeTickets(client: Client, objects: readonly AskedLimits[], now: Date): Promise<void> {
  const asked = objects.flatMap(({ id, limits }) => limits.map((one) => ({ id, ...one })))
  if (asked.length === 0) return
  const each = (of: (one: (typeof asked)[number]) => string) => asked.map(of)
  await TAKE.query(client, [each(({ id }) => id), each(({ limit }) => limit), each(({ key }) => key), now])
}

const RELEASE = statement({
  name: 'release-limit-tickets',
  text: 'delete from limit_ticket where object_id = any($1::uuid[])',
  params: [array(uuid)],
})

/** Drops all tickets of these objects. Under the lock of slots. */
export async function releaseTickets(client: Client, ids: readonly string[]): Promise<void> {
  await RELEASE.query(client, [ids])
}

const LAST = `(select max(seq) from limit_ticket s where s.object_id = any($2::uuid[]) and ${waits('s')})`
const GRANT = statement({
  name: 'grant-limits',
  text: `with recursive ${passing({ kind: '$1', until: LAST })}, chosen as materialized (
      select x.id from unnest($2::uuid[]) x(id) where ${passes('x.id')}
    ), granted as (${granting('array(select id from chosen)', '$3')})
    select id from chosen`,
  params: [text, array(uuid), timestamptz],
  row: { id: uuid },
})

/** Grants objects of one kind all limits that they ask for: those that may start now. Under the lock of slots. */
export async function grantLimits(
  client: Client,
  kind: string,
  objects: readonly AskedLimits[],
  now: Date,
): Promise<ReadonlySet<string>> {
  await takeTickets(client, objects, now)
  const { rows } = await GRANT.query(client, [kind, objects.map(({ id }) => id), now])
  return new Set(rows.map(({ id }) => id))
}

const WAKE_NEXT = statement({
  name: 'wake-limit-tickets',
  text: `with recursive ${passing({ kind: null, goes: '$2::uuid' })}, next as (
      select p.object_id, o.root_id, row_number() over (partition by p.kind, p.limit_id order by p.seq) as n from limit_passed p
      cross join lateral (select root_id from object where id = p.object_id offset 0) o
      where ($1::text is null or p.kind = $1) and ${passes('p.object_id')}
        and not exists (select from wake v where v.root_id = o.root_id and v.object_ids @> array[p.object_id] offset 0)
    )
    insert into wake (root_id, object_ids)
    select root_id, array_agg(distinct object_id) from next where $3::integer is null or n <= $3 group by root_id returning root_id`,
  params: [nullable(text), nullable(uuid), nullable(integer)],
  row: { root_id: table.wake.rootId },
})

interface ToWake {
  readonly kind?: string
  /** A root that is being deleted. */
  readonly goes?: string | null
  /** Bound for each kind and limit; absent: all. A worker or job that is woken may still wait for a slot. */
  readonly most?: number
}

/** Enqueues wake requests for objects that limits let start now. Returns their roots. Under the lock of slots. */
export async function wakeNextOfLimits(
  client: Client,
  { kind, goes = null, most }: ToWake = {},
): Promise<readonly string[]> {
  const { rows } = await WAKE_NEXT.query(client, [kind ?? null, goes, most ?? null])
  return rows.map(({ root_id }) => root_id)
}

const WAKE_WAITING = statement({
  name: 'wake-waiting-for-limit',
  text: `insert into wake (root_id, object_ids)
    select w.root_id, array_agg(w.object_id) from (
      select t.object_id, o.root_id, row_number() over (order by t.seq) / 1000 as part from limit_ticket t
      cross join lateral (select root_id from object where id = t.object_id offset 0) o
      where t.limit_id = $1 and t.granted_at is null
    ) w group by w.root_id, w.part returning root_id`,
  params: [uuid],
  row: { root_id: table.wake.rootId },
})

/** Enqueues wake requests for all that wait for a limit, in parts that one transaction takes. Returns their roots. */
export async function wakeWaitingFor(client: Client, limitId: string): Promise<readonly string[]> {
  const { rows } = await WAKE_WAITING.query(client, [limitId])
  return rows.map(({ root_id }) => root_id)
}

/** Number of holders that a blocker names. */
const MAX_HOLDERS = 10
const HELD_UP = statement({
  text: `select t.object_id as "objectId", l.name as "limit", t.key, l.max, l.max_per_key as "maxPerKey",
      (select count(*)::integer from limit_ticket h where h.limit_id = t.limit_id and h.granted_at is not null) as held,
      (select count(*)::integer from limit_ticket h
        where h.limit_id = t.limit_id and h.key = t.key and h.granted_at is not null) as "heldOfKey",
      (select count(*)::integer from limit_ticket b where b.kind = t.kind and b.limit_id = t.limit_id and b.key = t.key
        and b.granted_at is null and b.seq <= t.seq) as position,
      (select coalesce(json_agg(json_build_object('objectId', h.object_id, 'key', h.key)), '[]') from (
        select h.object_id, h.key from limit_ticket h where h.limit_id = t.limit_id and h.granted_at is not null
        order by h.key = t.key desc, h.seq limit ${MAX_HOLDERS}) h) as holders
    from limit_ticket t join flow_limit l on l.id = t.limit_id
    where t.object_id = any($1::uuid[]) and t.granted_at is null order by l.name, t.key`,
  params: [array(uuid)],
  row: {
    ...{ objectId: table.limitTicket.objectId, limit: table.flowLimit.name, key: table.limitTicket.key },
    ...{ max: table.flowLimit.max, maxPerKey: table.flowLimit.maxPerKey },
    ...{ held: integer, heldOfKey: integer, position: integer, holders: json<HeldUpTicket['holders']>('json') },
  },
})

/** The tickets with which these objects wait. */
export async function loadHeldUpTickets(
  client: Client,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly HeldUpTicket[]>> {
  if (ids.length === 0) return new Map()
  const { rows } = await HELD_UP.query(client, [ids])
  return Map.groupBy(rows, ({ objectId }) => objectId)
}

const MISSING = statement({
  name: 'missing-limits',
  text: `select n.name from unnest($2::text[]) n(name)
    where not exists (select from flow_limit where project_id = $1 and name = n.name)`,
  params: [uuid, array(text)],
  row: { name: text },
})

/** The names of which the project has no limit. */
export async function missingLimits(
  client: Client,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const { rows } = await MISSING.query(client, [projectId, [...new Set(names)]])
  return new Set(rows.map(({ name }) => name))
}
