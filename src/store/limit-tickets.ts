import type { LimitRequest } from '../core/limit-request.ts'
import { awaitAll } from './await-all.ts'
import type { Client } from './client.ts'
import { array, boolean, integer, nullable, text, timestamptz, uuid } from './column-types.ts'
import { isNamed } from './limit-names.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { statementTime } from './time.ts'

/**
 * Tickets of limits. An object takes one for each limit and key that it asks for, waits with all of them, and holds all of them from
 * its start to its end. There is no other counter: what a limit has left is counted from these rows, and what its rate has left from its
 * grants, under the lock of slots, in the transaction that starts the object or has seen its end.
 *
 * A kind and a limit have a line. The highest priority comes first in it. Within a priority, each key has as many places as its weight,
 * and the first tickets of the key stand there. If one of them is granted, the next one of its key joins the end of the line: so keys take
 * turns, in the order of their arrival. If it leaves, the next one takes its place. Triggers of the table see to that.
 *
 * The first in line starts, unless it cannot for another reason: its tree is paused, or another limit is used up. Then the next one of its
 * key has its place, and it holds up nobody. If time alone keeps the first one of a key waiting (`due_at`), a clock of its object
 * runs, and the key is not in line until that is due. A limit with a debounce lets a ticket start no earlier than `not_before`.
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

/**
 * A lateral row: how many more of a key may start now (`room`, null: any number), and until when time alone keeps it from that (`due`).
 * @param limit SQL of a row with the bounds of the limit, and its id as `limit_id`
 * @param key SQL of the key
 * @param now SQL of the time
 */
const ofKey = (limit: string, key: string, now: string): string => `lateral (
    select least(b.max - b.held, b.count - (case when b.count is not null then (
          select count(*)::integer from (select from limit_grant g where g.limit_id = ${limit}.limit_id and g.key = ${key}
            and g.at > ${now} - b.ms * interval '1 millisecond' limit b.count) g) end)) as room,
      case when b.held >= b.of_override then b.until else (
          select least(g.at + b.ms * interval '1 millisecond', b.until) from limit_grant g where g.limit_id = ${limit}.limit_id
            and g.key = ${key} and g.at > ${now} - b.ms * interval '1 millisecond' order by g.at desc limit 1 offset b.count - 1) end as due
    from (
      select m.*, case when m.max is not null then (select count(*)::integer from limit_ticket holder
          where holder.limit_id = ${limit}.limit_id and holder.key = ${key} and holder.granted_at is not null) end as held
      from (
        select coalesce(v.max_per_key, ${limit}.max_per_key) as max, v.max_per_key as of_override, v.until,
          coalesce(v.rate_count, ${limit}.rate_count) as count, coalesce(v.rate_ms, ${limit}.rate_ms) as ms
        from (values (1)) one left join limit_override v
          on v.limit_id = ${limit}.limit_id and v.key = ${key} and v.until > ${now}
      ) m
    ) b
  )`

interface Passing {
  /** SQL of the kind, as text; null: all kinds, each with lines of its own. */
  readonly kind: string | null
  /** SQL of the time. */
  readonly now: string
  /** SQL of a root that is being deleted, or null. */
  readonly goes?: string
  /** SQL of how many objects of each line are of use, or null. */
  readonly most?: string
  /** SQL of an array of the objects that ask; absent: none does. */
  readonly asking?: string
  /** Tickets behind those that ask are left out. */
  readonly endsThere?: boolean
}

/** An object has at most so many tickets. */
const MAX_TICKETS = 4

const isHeldUp = (ticket: string, goes: string): string =>
  `exists (select from object o left join root_pause r on r.root_id = o.root_id
    where o.id = ${ticket}.object_id and (r.root_id is not null or o.root_id = ${goes}) offset 0)`

/** Its debounce, if it has one, is over. */
export const isRipe = (ticket: string, now: string): string => `coalesce(${ticket}.not_before <= ${now}, true)`
const inLine = (ticket: string): string =>
  `${ticket}.granted_at is null and ${ticket}.place is not null and ${ticket}.due_at is null`
/** Tickets of the kind, limit, key and priority of another one. */
const besides = (ticket: string, other: string): string =>
  `${ticket}.kind = ${other}.kind and ${ticket}.limit_id = ${other}.limit_id and ${ticket}.key = ${other}.key and ${ticket}.priority = ${other}.priority`

/**
 * Parts of a `with recursive` that say which objects limits let start now: `limit_going`. Limits with a line are found one by one in the
 * index. Each line is walked, a priority at a time, until its limit is full: those that stand in it, and if there is still room, those
 * behind them, in turns. Only without a bound of all keys together is the whole line walked.
 *
 * Lines of several limits may have two objects in different orders. Then the older one goes, so that they do not wait for each other.
 */
function passing(options: Passing): string {
  const { kind, now, goes = 'null::uuid', most = 'null::integer', asking, endsThere = false } = options
  const OF_KIND = `${kind === null ? "t.kind > ''" : `t.kind = ${kind}`} and ${inLine('t')}`
  // With one kind, the comparison of both would begin at the first ticket of the kind.
  const AFTER = kind === null ? '(t.kind, t.limit_id) > (q.kind, q.limit_id)' : 't.limit_id > q.limit_id'
  const MAY_GO = `t.granted_at is null and t.due_at is null and ${isRipe('t', now)} and not ${isHeldUp('t', goes)}
        and not exists (select from limit_ticket s where s.object_id = t.object_id and ${waits('s')}
          and (s.limit_id, s.key) <> (t.limit_id, t.key) and (s.due_at is not null or not ${isRipe('s', now)} or not exists (
            select from limit_open l cross join ${ofKey('l', 's.key', now)} k
            where l.limit_id = s.limit_id and l.kind = s.kind and coalesce(k.room > 0, true))) offset 0)`
  /** The places of a key and priority are those of its first tickets that may go. */
  const places = (lateral: string, which: string) => `from limit_ticket h cross join ${ofKey('q', 'h.key', now)} k
          cross join lateral (
            select count(*) filter (where b.place <= h.place) as nth, count(*) as places,
              k.room - (select count(*) from unnest(q.keys) x where x = h.key) as room
            from limit_ticket b where ${besides('b', 'h')} and b.place is not null
          ) p cross join lateral (${lateral}) t
          where h.kind = q.kind and h.limit_id = q.limit_id and ${inLine('h')} and h.priority = l.priority and ${which}`
  const ASKED = `select from limit_asking a where a.limit_id = q.limit_id`
  const UNTIL = `exists (${ASKED} and (h.priority > a.priority or h.priority = a.priority and (not a.is_placed or h.place <= a.place)))`
  const BEHIND = `exists (${ASKED} and (l.priority > a.priority or l.priority = a.priority and not a.is_placed))`
  return `${
    endsThere
      ? `limit_asking as materialized (
    select limit_id, min(priority) as priority, max(place) as place, bool_and(place is not null) as is_placed
    from limit_ticket t where object_id = any(${asking}) and ${waits('t')} group by limit_id
  ), `
      : ''
  }limit_queue as (
    (select t.kind, t.limit_id from limit_ticket t where ${OF_KIND} order by t.kind, t.limit_id limit 1)
    union all
    select n.kind, n.limit_id from limit_queue q cross join lateral (
      select t.kind, t.limit_id from limit_ticket t where ${OF_KIND} and ${AFTER} order by t.kind, t.limit_id limit 1
    ) n
  ), limit_open as materialized (
    select q.kind, q.limit_id, l.max_per_key, l.rate_count, l.rate_ms, least(l.max - h.n, ${MAX_TICKETS} * ${most}) as room
    from limit_queue q join flow_limit l on l.id = q.limit_id
    cross join lateral (select case when l.max is not null then (select count(*)::integer from limit_ticket h
      where h.limit_id = l.id and h.granted_at is not null) end as n) h
    where l.pause is null and coalesce(l.max > h.n, true)
  ), limit_level as (
    select q.*, 2147483648 as priority, array[]::uuid[] as ids, array[]::text[] as added, array[]::text[] as keys from limit_open q
    union all
    select q.kind, q.limit_id, q.max_per_key, q.rate_count, q.rate_ms, q.room - cardinality(n.ids), n.priority, n.ids, n.added,
      q.keys || n.added
    from limit_level q cross join lateral (
      select l.priority::bigint, c.ids, c.added from (
        select h.priority from limit_ticket h where h.kind = q.kind and h.limit_id = q.limit_id and ${inLine('h')} and h.priority < q.priority
        order by h.priority desc limit 1
      ) l cross join lateral (
        with first as materialized (
          select h.key, h.place, t.object_id ${places(
            `select t.object_id from limit_ticket t where ${besides('t', 'h')} and ${MAY_GO} order by t.seq limit 1 offset p.nth - 1`,
            `coalesce(p.nth <= p.room, true)${endsThere ? ` and ${UNTIL}` : ''}`,
          )}
          order by h.place limit q.room
        ), behind as (
          select h.key, h.place, t.object_id, (t.nth - 1) / p.places as turn ${places(
            `select t.object_id, row_number() over (order by t.seq) as nth from (
              select t.object_id, t.seq from limit_ticket t where ${besides('t', 'h')} and ${MAY_GO} order by t.seq limit least(q.room, p.room)
            ) t`,
            `coalesce(p.room > p.places, true) and t.nth > p.places and (t.nth - p.nth) % p.places = 0
            and coalesce((select count(*) from first) < q.room, true)${endsThere ? ` and ${BEHIND}` : ''}`,
          )}
          order by turn, h.place limit q.room - (select count(*) from first)
        )
        select coalesce(array_agg(a.object_id order by a.turn, a.place), '{}') as ids, coalesce(array_agg(a.key order by a.turn, a.place), '{}') as added
        from (select key, place, object_id, 0 as turn from first union all select key, place, object_id, turn from behind) a
      ) c
    ) n where coalesce(q.room > 0, true)
  ), limit_passed as materialized (
    select l.kind, l.limit_id, t.object_id, t.key, row_number() over (partition by l.kind, l.limit_id order by l.priority desc, t.nth) as nth
    from limit_level l cross join lateral unnest(l.ids, l.added) with ordinality t(object_id, key, nth)
  ), limit_first as materialized (
    select p.object_id from limit_passed p group by p.object_id
    having count(*) = (select count(*) from limit_ticket s where s.object_id = p.object_id and ${waits('s')})
  ), limit_going as materialized (
    select object_id from limit_first
    union all
    (select distinct p.object_id from limit_passed p
    where p.object_id not in (select object_id from limit_first)${asking ? ` and p.object_id = any(${asking})` : ''} and not exists (
      select from limit_ticket s join limit_open o on o.kind = s.kind and o.limit_id = s.limit_id
      where s.object_id = p.object_id and ${waits('s')}
        and (s.object_id, s.limit_id, s.key) not in (select object_id, limit_id, key from limit_passed)
        and (o.room < (select count(*) from limit_ticket n where n.object_id = s.object_id and n.limit_id = s.limit_id)
          or exists (select from limit_passed r where r.kind = s.kind and r.limit_id = s.limit_id and r.object_id <> s.object_id
            and (r.object_id < s.object_id or r.object_id in (select object_id from limit_first)))) offset 0)
    order by p.object_id${asking ? ' limit 1' : ''})
  )`
}

/** True if limits let the object start now. @param id SQL of its id */
const passes = (id: string): string => `(${id} in (select object_id from limit_going)
    or not exists (select from limit_ticket q where q.object_id = ${id} and ${waits('q')} offset 0))`

interface Granting {
  /** SQL of an array of the ids of those that ask. */
  readonly asking: string
  /** SQL of an array of the ids of those among them that start. */
  readonly ids: string
  /** SQL of the time. */
  readonly now: string
}

/**
 * Parts of a `with` that grant the tickets of objects, in the statement that finds that they may start: trees that share a transaction
 * ask side by side. `due` has the others that only time keeps waiting.
 */
const granting = ({ asking, ids, now }: Granting): string => `granted as (
    update limit_ticket t set granted_at = ${now} where object_id = any(${ids}) and ${waits('t')} returning t.object_id, t.limit_id, t.key
  ), noted as (
    insert into limit_grant (limit_id, key, at, object_id, until)
    select g.limit_id, g.key, ${now}, g.object_id, ${now} + coalesce(v.rate_ms, l.rate_ms) * interval '1 millisecond'
    from granted g join flow_limit l on l.id = g.limit_id
    left join limit_override v on v.limit_id = g.limit_id and v.key = g.key and v.until > ${now}
    where coalesce(v.rate_ms, l.rate_ms) is not null
    on conflict do nothing
  ), due as (
    update limit_ticket t set due_at = d.due from (
      select s.object_id, s.limit_id, s.key, greatest(case when not ${isRipe('s', now)} then s.not_before end, case when s.object_id = (
          select n.object_id from limit_ticket n where ${besides('n', 's')} and n.granted_at is null
            and not ${isHeldUp('n', 'null::uuid')} order by n.seq limit 1
        ) then k.due end) as due
      from limit_ticket s
      cross join lateral (select id as limit_id, max_per_key, rate_count, rate_ms from flow_limit where id = s.limit_id) l
      cross join ${ofKey('l', 's.key', now)} k
      where s.object_id = any(${asking}) and s.object_id <> all(${ids}) and ${waits('s')}
    ) d where (t.object_id, t.limit_id, t.key) = (d.object_id, d.limit_id, d.key) and coalesce(d.due, t.due_at) is not null
    returning t.object_id, t.due_at
  )`
/** Columns of an object that has asked. @param id SQL of its id */
const grantOf = (id: string): string => `(select min(d.due_at) from due d where d.object_id = ${id}) as due,
    exists (select from granted g where g.object_id = ${id}) as leads`

/** For statements of others that find what may start. */
export const ADMISSION = { passing, passes, granting, grantOf }

/** The end of a debounce: it counts from when a worker or job was created, so further attempts do not wait again. */
const NOT_BEFORE = `case when o.kind in ('WORKER', 'JOB') then o.created_at + l.debounce_ms * interval '1 millisecond' end`
// An object that asks holds nothing. If it has a granted ticket, the release of that is still to come in this transaction.
const TAKE = statement({
  name: 'take-limit-tickets',
  text: `insert into limit_ticket (object_id, limit_id, key, kind, asked_at, priority, not_before)
    select a.object_id, l.id, a.key, o.kind::text, $4, a.priority, ${NOT_BEFORE}
    from unnest($1::uuid[], $2::text[], $3::text[], $5::integer[]) with ordinality a(object_id, name, key, priority, n)
    cross join lateral (select kind, project_id, created_at from object where id = a.object_id offset 0) o
    join flow_limit l on ${isNamed('l', 'a.name', 'o.project_id')}
    order by a.n
    on conflict (object_id, limit_id, key) do update set granted_at = null, seq = excluded.seq, asked_at = excluded.asked_at,
      priority = excluded.priority, not_before = excluded.not_before where limit_ticket.granted_at is not null`,
  params: [array(uuid), array(text), array(text), timestamptz, array(integer)],
})

export interface AskedLimits {
  readonly id: string
  readonly limits: readonly LimitRequest[]
}

const RING = statement({
  name: 'ring-limit-tickets',
  text: 'update limit_ticket set due_at = null where due_at <= $1 returning object_id',
  params: [timestamptz],
  row: { object_id: uuid },
})

/**
 * Puts objects into the lines, unless they are there. Nobody asks for a limit that is gone. True: time alone has kept some waiting until
 * now, and those behind them may start, too. Under the lock of slots.
 */
export async function takeTickets(client: Client, objects: readonly AskedLimits[], now: Date): Promise<boolean> {
  const asked = objects.flatMap(({ id, limits }) => limits.map((one) => ({ id, ...one })))
  if (asked.length === 0) return false
  const each = <T>(of: (one: (typeof asked)[number]) => T) => asked.map(of)
  const names = [each(({ id }) => id), each(({ limit }) => limit), each(({ key }) => key)] as const
  const [{ rows }] = await awaitAll([
    RING.query(client, [now]),
    TAKE.query(client, [...names, now, each(({ priority = 0 }) => priority)]),
  ])
  return rows.length > 0
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

const GRANT = statement({
  name: 'grant-limits',
  text: `with recursive ${passing({ kind: '$1', now: '$3', asking: '$2::uuid[]', endsThere: true })}, chosen as materialized (
      select x.id from unnest($2::uuid[]) x(id) where ${passes('x.id')}
    ), ${granting({ asking: '$2::uuid[]', ids: 'array(select id from chosen)', now: '$3' })}
    select x.id, x.id in (select id from chosen) as granted, ${grantOf('x.id')} from unnest($2::uuid[]) x(id)`,
  params: [text, array(uuid), timestamptz],
  row: { id: uuid, granted: boolean, due: nullable(timestamptz), leads: boolean },
})

interface Granted {
  readonly isGranted: boolean
  readonly dueAt: Date | null
  readonly leads: boolean
}

/** Grants objects of one kind all limits that they ask for: those that may start now. Under the lock of slots. */
export async function grantLimits(
  client: Client,
  kind: string,
  objects: readonly AskedLimits[],
  now: Date,
): Promise<ReadonlyMap<string, Granted>> {
  const rung = await takeTickets(client, objects, now)
  const { rows } = await GRANT.query(client, [kind, objects.map(({ id }) => id), now])
  return new Map(
    rows.map(({ id, granted, due, leads }) => [id, { isGranted: granted, dueAt: due, leads: leads || rung }]),
  )
}

// If time alone keeps a key waiting, and its first object has no clock, that is woken to set one. Each start wakes the next one.
const WAKE_NEXT = statement({
  name: 'wake-limit-tickets',
  text: `with recursive ${passing({ kind: null, now: statementTime('$4'), goes: '$2::uuid' })}, due as (
      select q.kind, c.object_id from limit_open q cross join lateral (
        select distinct h.kind, h.limit_id, h.key, h.priority from limit_ticket h
        where h.kind = q.kind and h.limit_id = q.limit_id and ${inLine('h')}
      ) h cross join ${ofKey('q', 'h.key', statementTime('$4'))} k cross join lateral (
        select t.object_id, t.due_at from limit_ticket t where ${besides('t', 'h')} and t.granted_at is null
          and not ${isHeldUp('t', '$2::uuid')} order by t.seq limit 1
      ) c
      where (q.rate_ms is not null or exists (select from limit_override v where v.limit_id = q.limit_id))
        and k.due is not null and c.due_at is null
    ), next as (
      select p.object_id, o.root_id, case when p.is_first then row_number() over (partition by p.kind, p.limit_id, p.is_first order by p.nth) else 0 end as n
      from (
        select g.kind, g.limit_id, g.object_id, g.nth, g.object_id in (select object_id from limit_first) as is_first
        from limit_passed g where g.object_id in (select object_id from limit_going)
        union all select kind, null, object_id, 0, false from due
      ) p cross join lateral (select root_id from object where id = p.object_id offset 0) o
      where ($1::text is null or p.kind = $1)
        and not exists (select from wake v where v.root_id = o.root_id and v.object_ids @> array[p.object_id] offset 0)
    )
    insert into wake (root_id, object_ids)
    select root_id, array_agg(distinct object_id) from next where $3::integer is null or n <= $3 group by root_id returning root_id`,
  params: [nullable(text), nullable(uuid), nullable(integer), nullable(timestamptz)],
  row: { root_id: table.wake.rootId },
})

interface ToWake {
  readonly kind?: string
  /** A root that is being deleted. */
  readonly goes?: string | null
  /** Bound for each kind and limit of those that are sure to start; absent: none. A worker or job may still wait for a slot. */
  readonly most?: number
}

/**
 * Enqueues wake requests for objects that limits let start now. Returns their roots. Under the lock of slots.
 * @param time null: that of the database
 */
export async function wakeNextOfLimits(
  client: Client,
  time: Date | null,
  { kind, goes = null, most }: ToWake = {},
): Promise<readonly string[]> {
  const { rows } = await WAKE_NEXT.query(client, [kind ?? null, goes, most ?? null, time])
  return rows.map(({ root_id }) => root_id)
}

const WAITING_IN = statement({
  name: 'waiting-for-limits-in',
  text: `select o.id from (select id from object where root_id = $1 offset 0) o
    where exists (select from limit_ticket t where t.object_id = o.id and ${waits('t')} offset 0)`,
  params: [uuid],
  row: { id: uuid },
})

/** Objects of a tree that wait for limits. */
export async function waitingIn(client: Client, rootId: string): Promise<readonly string[]> {
  const { rows } = await WAITING_IN.query(client, [rootId])
  return rows.map(({ id }) => id)
}

const FORGET_DUE = statement({
  name: 'forget-due-limit-tickets',
  text: 'update limit_ticket set due_at = null where object_id = any($1::uuid[]) and due_at is not null',
  params: [array(uuid)],
})

/**
 * After objects that have started (null), or that are not to start at their time: those behind them start, or get a clock. Returns their
 * roots.
 */
export async function wakeBehind(
  client: Client,
  objects: readonly (string | null)[],
  now: Date,
  goes: string | null,
): Promise<readonly string[]> {
  if (!(await lockSlots(client))) return []
  const ids = objects.filter((id) => id !== null)
  if (ids.length > 0) await FORGET_DUE.query(client, [ids])
  return await wakeNextOfLimits(client, now, { goes, most: objects.length })
}

const WEIGHT = 'coalesce((l.weights ->> t.key)::integer, 1)'
const REARRANGE = statement({
  name: 'rearrange-limit-tickets',
  text: `update limit_ticket t set due_at = null, place = n.place, not_before = n.not_before from (
      select t.object_id, t.key, ${NOT_BEFORE} as not_before, case when row_number() over (partition by t.kind, t.key, t.priority order by t.seq) <= ${WEIGHT}
        then coalesce(t.place, nextval('limit_ticket_seq')) end as place
      from limit_ticket t join flow_limit l on l.id = t.limit_id join object o on o.id = t.object_id
      where t.limit_id = $1 and t.granted_at is null
    ) n where t.limit_id = $1 and t.object_id = n.object_id and t.key = n.key
      and (t.due_at, t.place, t.not_before) is distinct from (null, n.place, n.not_before)`,
  params: [uuid],
})

/** After an edit of a limit, so that the next one that asks, or ends, sees the new bounds. */
export async function limitChanged(client: Client, limitId: string, now: Date): Promise<void> {
  await lockSlots(client)
  await REARRANGE.query(client, [limitId])
  await wakeNextOfLimits(client, now)
}

/**
 * A transaction judges by the time at which it has locked its tree, and may have waited, or its process was frozen, since then. The rows
 * that it counts are kept for longer than it can last.
 */
const LATE = "interval '5 minutes'"
const EXPIRE = [
  ['forget-limit-grants', 'limit_grant'],
  ['end-limit-overrides', 'limit_override'],
].map(([name = '', of]) =>
  statement({
    name,
    text: `delete from ${of} where until <= ${statementTime('$1')} - ${LATE}`,
    params: [nullable(timestamptz)],
  }),
)

/** Deletes what no rate counts any more, and overrides that have ended. */
export async function forgetExpired(client: Client, time: Date | null): Promise<void> {
  for (const each of EXPIRE) await each.query(client, [time])
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
