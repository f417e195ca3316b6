import type { Client } from '../../../store/client.ts'
import { array, bigint, boolean, nothing, nullable, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { LockMode } from '../rules/lock-mode.ts'

/**
 * The lock manager. A job takes one ticket for all its locks, and holds them once no row of a lower ticket conflicts with
 * any of its own, whether that row holds or waits. So `held` follows from the rows alone: a grant never affects other
 * jobs, the job with the lowest ticket can always run, and no job overtakes an earlier one in conflict with it.
 *
 * `offset 0` makes queues use their index, even with a plan from a time without waiters.
 */

export interface LockRequest {
  readonly resource: string
  readonly mode: LockMode
}

/** The lock manager's own lock, held until the transaction ends, so that tickets commit in their order. */
const LOCK = statement({
  name: 'lock-locks',
  text: "select pg_advisory_xact_lock(hashtext('phaseline locks'))",
  row: { pg_advisory_xact_lock: nothing },
})

/** The resource of an exclusive row. Only the index of exclusive rows has this expression, so that a plan uses no other. */
const exclusive = (row: string): string => `(case when ${row}.mode = 'EXCLUSIVE' then ${row}.resource end)`

/** True if an earlier row conflicts with row `m`. */
const BLOCKED = `case m.mode
    when 'EXCLUSIVE' then exists (select from lock b where b.resource = m.resource and b.ticket < m.ticket offset 0)
    else exists (select from lock b where ${exclusive('b')} = m.resource and b.ticket < m.ticket offset 0)
  end`

// No later ticket exists yet, so every row of a resource is earlier.
const TAKE = statement({
  name: 'take-locks',
  text: `with wanted as materialized (
    select l.resource, l.mode, l.n from unnest($2::text[], $3::lock_mode[]) with ordinality l(resource, mode, n)
    where not exists (select from lock where object_id = $1)
  ), verdict as materialized (
    select nextval('lock_ticket') as ticket, not exists (select from wanted w where case w.mode
      when 'EXCLUSIVE' then exists (select from lock b where b.resource = w.resource offset 0)
      else exists (select from lock b where ${exclusive('b')} = w.resource offset 0) end) as free
    where exists (select from wanted)
  )
  insert into lock (object_id, resource, mode, ticket, held, declared_at, granted_at)
  select $1, w.resource, w.mode, v.ticket, v.free, $4, case when v.free then $4::timestamptz end
  from verdict v cross join wanted w order by w.n
  returning held`,
  params: [uuid, array(text), array(table.lockMode), timestamptz],
  row: { held: table.lock.held },
})

const HOLDS = statement({
  name: 'hold-locks',
  text: `with granted as (
    update lock l set held = true, granted_at = $2 where l.object_id = $1 and l.held is not true
      and not exists (select from lock m where m.object_id = $1 and ${BLOCKED} offset 0)
    returning l.object_id
  )
  select exists (select from granted) or coalesce(bool_and(held), false) as held from lock where object_id = $1`,
  params: [uuid, timestamptz],
  row: { held: boolean },
})

/**
 * True if the job holds its locks: all of them, or none while it waits. Only the first call declares locks; later calls
 * only query.
 */
export async function acquire(
  client: Client,
  { objectId, locks, now }: { readonly objectId: string; readonly locks: readonly LockRequest[]; readonly now: Date },
): Promise<boolean> {
  if (locks.length === 0) return true
  const merged = mergeLocks(locks)
  const [, { rows: taken }] = await Promise.all([
    LOCK.query(client, []),
    TAKE.query(client, [objectId, merged.map(({ resource }) => resource), merged.map(({ mode }) => mode), now]),
  ])
  const [row] = taken
  if (row) return row.held
  const { rows } = await HOLDS.query(client, [objectId, now])
  return rows[0]?.held ?? false
}

/** Each resource once, with the stronger mode, in the same order for all jobs. */
function mergeLocks(locks: readonly LockRequest[]): readonly LockRequest[] {
  const modes = new Map<string, LockMode>()
  for (const { resource, mode } of locks) if (modes.get(resource) !== 'EXCLUSIVE') modes.set(resource, mode)
  return [...modes].map(([resource, mode]) => ({ resource, mode })).sort((a, b) => (a.resource < b.resource ? -1 : 1))
}

const DROP = statement({
  name: 'drop-locks',
  text: `with gone as (delete from lock where object_id = any($1::uuid[]) returning resource, mode, ticket)
  select resource, min(ticket) filter (where mode = 'EXCLUSIVE') as exclusive from gone group by resource`,
  params: [array(uuid)],
  row: { resource: table.lock.resource, exclusive: nullable(bigint) },
})

// Checks only the rows that these releases can have freed: the first exclusive one of a resource, if no row is before it
// now, and the shared ones up to it that waited for a released exclusive one. So the cost is independent of the length of
// the queues.
const GRANT = statement({
  name: 'grant-locks',
  text: `with freed as materialized (
    select f.resource, f.exclusive, x.object_id, x.ticket, x.held
    from unnest($1::text[], $2::bigint[]) f(resource, exclusive)
    left join lateral (
      select l.object_id, l.ticket, l.held from lock l where ${exclusive('l')} = f.resource order by l.ticket limit 1
    ) x on true
  ), candidate as materialized (
    select f.object_id from freed f where not f.held
      and not exists (select from lock b where b.resource = f.resource and b.ticket < f.ticket offset 0)
    union
    select s.object_id from freed f cross join lateral (
      select l.object_id from lock l where l.resource = f.resource and not l.held
        and l.ticket > f.exclusive and l.ticket < coalesce(f.ticket, 9223372036854775807) offset 0
    ) s
  ), chosen as materialized (
    select c.object_id from candidate c
    where not exists (select from lock m where m.object_id = c.object_id and ${BLOCKED} offset 0)
  ), granted as (
    update lock set held = true, granted_at = $3 where ctid = any(array(
      select l.ctid from chosen c cross join lateral (select ctid from lock where object_id = c.object_id offset 0) l
    )) returning object_id
  ), runnable as materialized (
    select distinct o.root_id, o.id from granted g
      cross join lateral (select * from object where id = g.object_id offset 0) o
  ), wakes as (
    insert into wake (root_id, object_ids) select root_id, array_agg(id order by id) from runnable group by root_id
  )
  select root_id as "rootId", id as "objectId" from runnable order by 2`,
  params: [array(text), array(nullable(bigint)), timestamptz],
  row: { rootId: table.object.rootId, objectId: table.object.id },
})

/**
 * Releases the locks of these jobs, or their positions in the queues, grants the next ones, and enqueues wake requests
 * for their trees. Returns the jobs that can run, each once.
 */
export async function release(
  client: Client,
  objectIds: readonly string[],
  now: Date,
): Promise<readonly { readonly rootId: string; readonly objectId: string }[]> {
  if (objectIds.length === 0) return []
  const [, { rows: freed }] = await Promise.all([LOCK.query(client, []), DROP.query(client, [objectIds])])
  if (freed.length === 0) return []
  const { rows } = await GRANT.query(client, [freed.map((f) => f.resource), freed.map((f) => f.exclusive), now])
  return rows
}
