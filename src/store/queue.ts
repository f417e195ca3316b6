import type { ObjectRow } from '../core/tree.ts'
import type { ObjectKind } from '../core/vocabulary.ts'
import { awaitAll } from './await-all.ts'
import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'
import { array, bigint, boolean, float8, integer, nullable, required, text, timestamptz, uuid } from './column-types.ts'
import { OBJECT_COLUMNS } from './columns.ts'
import { type StatementRow, statement } from './statement.ts'
import * as table from './tables.ts'
import { statementTime, timeNow } from './time.ts'
import { IS_FREE_TO_GO, IS_OPEN } from './work-states.ts'

/** The trees that are due: wake requests of other transactions (`wake`), and times at which something in them is due (`root_queue`). */

export interface RootLock {
  readonly row: ObjectRow
  readonly projectName: string
  readonly wakeAt: Date | null
  readonly failures: number
  /** Its new work is not handed out. */
  readonly isPaused: boolean
  /** Its project has an invariant. */
  readonly hasInvariants: boolean
  /** The time by which the tree is judged: read when the lock is there. */
  readonly at: Date
}

const ROOT = `${OBJECT_COLUMNS.map(({ property, column }) => `o."${column}" as "${property}"`).join(', ')},
  (select p.name from project p where p.id = o.project_id) as "projectName"`

// `parent_id is null` is not said, though true: it would let a plan scan all roots for the one.
const lock = (name: string, suffix: string) =>
  statement({
    name,
    text: `select ${ROOT} from object o where o.id = $1 and o.root_id = $1 for no key update ${suffix}`,
    params: [uuid],
    row: { ...table.object, projectName: table.project.name },
  })
const LOCK = lock('lock-root', '')
const LOCK_UNLESS_LOCKED = lock('lock-root-skip', 'skip locked')
const hasInvariants = (root: string): string =>
  `coalesce((select p.has_invariants from object o join project p on p.id = o.project_id where o.id = ${root}), false) as invariants`
// One row whether or not the root is queued.
const QUEUED = statement({
  name: 'root-queued',
  text: `select q.wake_at, q.failures, exists (select from root_pause where root_id = $1 offset 0) as paused, ${hasInvariants('$1')},
      ${timeNow('$2')} as at
    from (values (1)) one left join root_queue q on q.root_id = $1`,
  params: [uuid, nullable(timestamptz)],
  row: {
    wake_at: nullable(table.rootQueue.wakeAt),
    failures: nullable(table.rootQueue.failures),
    paused: boolean,
    invariants: boolean,
    at: timestamptz,
  },
})

/**
 * The queue and the time are read by a statement of their own: it sees what the previous holder of the lock has committed, and
 * its time is later than any that the previous holder has written.
 * @param time null: the database's own
 */
export async function lockRoot(
  client: Client,
  rootId: string,
  { skipLocked, time }: { readonly skipLocked: boolean; readonly time: Date | null },
): Promise<RootLock | 'gone' | 'locked'> {
  const [locked, queued] = await awaitAll([
    (skipLocked ? LOCK_UNLESS_LOCKED : LOCK).query(client, [rootId]),
    QUEUED.query(client, [rootId, time]),
  ])
  const [found] = locked.rows
  if (!found) return skipLocked && (await exists(client, rootId)) ? 'locked' : 'gone'
  const [queue] = queued.rows
  if (!queue) throw new Error(`the statement root-queued returned no row for the root ${rootId}`)
  return lockOf(found, queue)
}

const lockOf = (
  { projectName, ...row }: StatementRow<typeof LOCK>,
  { wake_at: wakeAt, failures, paused: isPaused, invariants: hasInvariants, at }: StatementRow<typeof QUEUED>,
): RootLock => ({ row, projectName, wakeAt, failures: failures ?? 0, isPaused, hasInvariants, at })

// It waits for none of them, so that no two transactions wait for each other.
const LOCK_SEVERAL = statement({
  name: 'lock-roots-skip',
  text: `select ${ROOT} from unnest($1::uuid[]) wanted(id) cross join lateral (
      select * from object where id = wanted.id and root_id = wanted.id for no key update skip locked
    ) o`,
  params: [array(uuid)],
  row: { ...table.object, projectName: table.project.name },
})
const SEVERAL_QUEUED = statement({
  name: 'roots-queued',
  text: `select wanted.id, q.wake_at, q.failures, exists (select from root_pause where root_id = wanted.id offset 0) as paused,
      ${hasInvariants('wanted.id')}, ${timeNow('$2')} as at
    from unnest($1::uuid[]) wanted(id) left join lateral (select * from root_queue where root_id = wanted.id offset 0) q on true`,
  params: [array(uuid), nullable(timestamptz)],
  row: {
    id: required(uuid),
    wake_at: nullable(table.rootQueue.wakeAt),
    failures: nullable(table.rootQueue.failures),
    paused: boolean,
    invariants: boolean,
    at: timestamptz,
  },
})

/** Locks several roots as `lockRoot` does with `skipLocked`, in as many statements as one. */
export async function lockRoots(
  client: Client,
  rootIds: readonly string[],
  time: Date | null,
): Promise<ReadonlyMap<string, RootLock | 'gone' | 'locked'>> {
  const ids = binaryUuids(rootIds)
  const [locked, queued] = await awaitAll([
    LOCK_SEVERAL.query(client, [ids]),
    SEVERAL_QUEUED.query(client, [ids, time]),
  ])
  const found = new Map(locked.rows.map((row) => [row.id, row]))
  const missing = rootIds.filter((id) => !found.has(id))
  const stands = await awaitAll(
    missing.map(async (id) => [id, (await exists(client, id)) ? 'locked' : 'gone'] as const),
  )
  return new Map<string, RootLock | 'gone' | 'locked'>([
    ...stands,
    ...queued.rows.flatMap(({ id, ...queue }) => {
      const root = found.get(id)
      return root ? [[id, lockOf(root, queue)] as const] : []
    }),
  ])
}

const ROOT_EXISTS = statement({
  name: 'root-exists',
  text: 'select 1 from object where id = $1',
  params: [uuid],
  row: { '?column?': integer },
})

async function exists(client: Client, rootId: string): Promise<boolean> {
  const { rowCount } = await ROOT_EXISTS.query(client, [rootId])
  return rowCount === 1
}

const TAKE_WAKES = statement({
  name: 'take-wakes',
  text: `with requests as (select id from wake where root_id = $1 order by id limit 64)
      delete from wake w using requests r where w.root_id = $1 and w.id = r.id returning w.object_ids, w.reason, w.traceparent`,
  params: [uuid],
  row: { object_ids: table.wake.objectIds, reason: table.wake.reason, traceparent: table.wake.traceparent },
})

/** Called under the root's lock. Requests that commit later are for the next transaction. */
export async function takeWakeRequests(
  client: Client,
  rootId: string,
): Promise<readonly { objectIds: readonly string[]; reason: string | null; traceparent: string | null }[]> {
  const { rows } = await TAKE_WAKES.query(client, [rootId])
  return rows.map(({ object_ids, reason, traceparent }) => ({ objectIds: object_ids, reason, traceparent }))
}

/** The most ids of one request, so that none loads a whole large tree at once. */
const MAX_IDS = 1_000

const INSERT_WAKE = statement({
  name: 'insert-wake',
  text: 'insert into wake (root_id, object_ids, reason, traceparent) values ($1, $2::uuid[], $3, $4)',
  params: [uuid, array(uuid), nullable(text), nullable(text)],
})

export async function enqueueWakes(
  client: Client,
  rootId: string,
  ids: readonly string[],
  { reason, traceparent }: { readonly reason: string | null; readonly traceparent: string | null },
): Promise<void> {
  const parts = Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, i) =>
    ids.slice(i * MAX_IDS, (i + 1) * MAX_IDS),
  )
  await awaitAll(parts.map((part) => INSERT_WAKE.query(client, [rootId, binaryUuids(part), reason, traceparent])))
}

const DUE_OBJECTS = statement({
  name: 'due-objects',
  text: `(select object_id from work where root_id = $1 and ${IS_OPEN} and due_at <= $2 and ${IS_FREE_TO_GO('work')} order by due_at limit 1000)
      union
      (select object_id from work where root_id = $1 and lease_watched and state = 1 and lease_until <= $2 limit 1000)
      union
      (select object_id from clock where root_id = $1 and due_at <= $2 order by due_at limit 1000)`,
  params: [uuid, timestamptz],
  row: { object_id: uuid },
})

/** Objects of the tree whose clock, timeout or watched lease has run out. */
export async function dueObjects(client: Client, rootId: string, now: Date): Promise<readonly string[]> {
  const { rows } = await DUE_OBJECTS.query(client, [rootId, now])
  return rows.map((row) => row.object_id)
}

const TAKE_LOST_WORK = statement({
  name: 'take-lost-work',
  text: `delete from work w where w.object_id = any($1::uuid[]) returning w.job_id as "jobId",
      coalesce(
        (select c.parent_id from object_phase_change c where c.object_id = w.object_id order by c.batch_id desc limit 1),
        (select f.parent_id from floor_state f where f.object_id = w.object_id)
      ) as "parentId"`,
  params: [array(uuid)],
  row: { jobId: table.work.jobId, parentId: nullable(uuid) },
})

/** Deletes work whose object was deleted by hand: no report will end it. The log still has its parent. */
export async function takeLostWork(
  client: Client,
  objectIds: readonly string[],
): Promise<readonly { parentId: string | null; jobId: string | null }[]> {
  const { rows } = await TAKE_LOST_WORK.query(client, [objectIds])
  return rows
}

const earliest = (root: string): string => `least(
        (select min(due_at) from work where root_id = ${root} and ${IS_OPEN} and ${IS_FREE_TO_GO('work')}),
        (select min(lease_until) from work where root_id = ${root} and lease_watched and state = 1),
        (select min(due_at) from clock where root_id = ${root}))`
const NEXT_DUE = statement({
  name: 'next-due',
  text: `select ${earliest('$1')} as at`,
  params: [uuid],
  row: { at: nullable(timestamptz) },
})

export async function nextDue(client: Client, rootId: string): Promise<Date | null> {
  const { rows } = await NEXT_DUE.query(client, [rootId])
  return rows[0]?.at ?? null
}

const UNSCHEDULE_ROOT = statement({
  name: 'unschedule-root',
  text: 'delete from root_queue where root_id = $1',
  params: [uuid],
})

const UNSCHEDULE_IDLE = statement({
  name: 'unschedule-idle-roots',
  text: `delete from root_queue q where q.root_id = any($1::uuid[]) and ${earliest('q.root_id')} is null`,
  params: [array(uuid)],
})

/** Takes trees from the queue in which no clock runs, so that nobody reconciles them in vain. Their wake requests stay. */
export async function unscheduleIdleRoots(client: Client, rootIds: readonly string[]): Promise<void> {
  await UNSCHEDULE_IDLE.query(client, [binaryUuids(rootIds)])
}

const SCHEDULE_ROOT = statement({
  name: 'schedule-root',
  text: `insert into root_queue (root_id, wake_at) values ($1, $2)
      on conflict (root_id) do update set wake_at = excluded.wake_at, failures = 0`,
  params: [uuid, timestamptz],
})

export async function scheduleRoot(client: Client, rootId: string, at: Date | null): Promise<void> {
  if (at === null) {
    await UNSCHEDULE_ROOT.query(client, [rootId])
    return
  }
  await SCHEDULE_ROOT.query(client, [rootId, at])
}

const SCHEDULE_SEVERAL = statement({
  name: 'schedule-roots',
  text: `insert into root_queue (root_id, wake_at) select * from unnest($1::uuid[], $2::timestamptz[])
      on conflict (root_id) do update set wake_at = excluded.wake_at, failures = 0`,
  params: [array(uuid), array(timestamptz)],
})
const UNSCHEDULE_SEVERAL = statement({
  name: 'unschedule-roots',
  text: 'delete from root_queue where root_id = any($1::uuid[])',
  params: [array(uuid)],
})

/** Writes when these roots are due next; null: never. */
export async function scheduleRoots(
  client: Client,
  roots: readonly { readonly id: string; readonly at: Date | null }[],
): Promise<void> {
  const due = roots.flatMap(({ id, at }) => (at ? [{ id, at }] : []))
  const idle = roots.flatMap(({ id, at }) => (at ? [] : [id]))
  await awaitAll([
    due.length > 0 &&
      SCHEDULE_SEVERAL.query(client, [binaryUuids(due.map(({ id }) => id)), due.map(({ at }) => at.toISOString())]),
    idle.length > 0 && UNSCHEDULE_SEVERAL.query(client, [binaryUuids(idle)]),
  ])
}

const DELAY_ROOT = statement({
  name: 'delay-root',
  text: `insert into root_queue (root_id, wake_at, failures) values ($1, $2, $3)
      on conflict (root_id) do update set wake_at = excluded.wake_at, failures = excluded.failures`,
  params: [uuid, timestamptz, integer],
})

/** Delays a tree that failed until its backoff is over. */
export async function delayRoot(client: Client, rootId: string, at: Date, failures: number): Promise<void> {
  await DELAY_ROOT.query(client, [rootId, at, failures])
}

const QUEUE_STOPPED = statement({
  name: 'queue-stopped-clocks',
  text: `insert into root_queue (root_id, wake_at)
      select root_id, min(due_at) from (select root_id, due_at from clock where due_at <= ${statementTime('$1')} order by due_at limit 1000) c
        where not exists (select from root_queue q where q.root_id = c.root_id) group by root_id
      on conflict (root_id) do nothing`,
  params: [nullable(timestamptz)],
})

/**
 * Queues trees in which a clock has run out although they are not queued: the version before does not know of clocks, and removes a
 * tree from the queue in which nothing else is due.
 */
export async function queueStoppedClocks(client: Client, time: Date | null): Promise<void> {
  await QUEUE_STOPPED.query(client, [time])
}

const DUE = statement({
  name: 'due-roots',
  text: `select root_id, false as lone from (
    select w.root_id, min(w.id) as first from wake w
      where not exists (select 1 from root_queue q where q.root_id = w.root_id and q.failures > 0 and q.wake_at > ${statementTime('$1')})
      group by w.root_id order by first limit $2
  ) requests
  union all
  select root_id, failures = 0 and exists (select from object o where o.id = clocks.root_id and o.kind = any($3)) as lone from (
    select root_id, failures from root_queue where wake_at <= ${statementTime('$1')} order by wake_at limit $2
  ) clocks`,
  params: [nullable(timestamptz), bigint, array(table.objectKind)],
  row: { root_id: required(uuid), lone: boolean },
})

export interface DueRoots {
  /** Each is decided alone. */
  readonly rootIds: readonly string[]
  /** Others are due by their clock, and lone: `lockLoneRoots` finds them. */
  readonly hasLone: boolean
}

/**
 * Roots of trees that are due; candidates only, the lock decides.
 * @param time null: the database's own
 * @param loneKinds kinds of roots without children
 */
export async function dueRoots(
  client: Client,
  { time, limit, loneKinds }: { readonly time: Date | null; readonly limit: number; readonly loneKinds: LoneKinds },
): Promise<DueRoots> {
  const { rows } = await DUE.query(client, [time, limit, loneKinds])
  const others = rows.filter(({ lone }) => !lone)
  return { rootIds: [...new Set(others.map((row) => row.root_id))], hasLone: others.length < rows.length }
}
type LoneKinds = readonly ObjectKind[]

// Root by root in the order of their clocks, and no further than it locks.
const LOCK_LONE = statement({
  name: 'lock-lone-roots',
  text: `select ${ROOT} from (
      select root_id from root_queue where wake_at <= ${statementTime('$1')} and failures = 0 order by wake_at limit 1000
    ) q cross join lateral (
      select * from object where id = q.root_id and root_id = q.root_id and kind = any($2) offset 0 for no key update skip locked
    ) o limit $3`,
  params: [nullable(timestamptz), array(table.objectKind), bigint],
  row: { ...table.object, projectName: table.project.name },
})
const QUEUED_LONE = statement({
  name: 'lone-roots-queued',
  text: `select q.root_id, q.wake_at, ${timeNow('$2')} as at from unnest($1::uuid[]) wanted(id)
    cross join lateral (select * from root_queue where root_id = wanted.id and failures = 0 offset 0) q`,
  params: [array(uuid), nullable(timestamptz)],
  row: { root_id: table.rootQueue.rootId, wake_at: table.rootQueue.wakeAt, at: timestamptz },
})

/**
 * Locks roots without children whose clock has run out, the earliest that no other transaction has locked.
 * @param time null: the database's own
 */
export async function lockLoneRoots(
  client: Client,
  { time, limit, loneKinds }: { readonly time: Date | null; readonly limit: number; readonly loneKinds: LoneKinds },
): Promise<readonly RootLock[]> {
  const { rows } = await LOCK_LONE.query(client, [time, loneKinds, limit])
  if (rows.length === 0) return []
  // As `lockRoot` does: by a statement of its own.
  const { rows: queued } = await QUEUED_LONE.query(client, [rows.map(({ id }) => id), time])
  const locked = new Map(rows.map(({ projectName, ...row }) => [row.id, { row, projectName }]))
  return queued.flatMap(({ root_id, wake_at: wakeAt, at }) => {
    const root = locked.get(root_id)
    return root && wakeAt <= at ? [{ ...root, wakeAt, failures: 0, isPaused: false, hasInvariants: false, at }] : []
  })
}

const NEXT_CLOCK = statement({
  name: 'next-clock',
  text: `select extract(epoch from min(wake_at) - ${timeNow('$1')})::float8 * 1000 as ms from root_queue`,
  params: [nullable(timestamptz)],
  row: { ms: nullable(float8) },
})

/** Milliseconds until the next clock runs out; null: none runs. */
export async function untilNextClock(client: Client, time: Date | null): Promise<number | null> {
  const { rows } = await NEXT_CLOCK.query(client, [time])
  return rows[0]?.ms ?? null
}

const FORGET_WAKES = statement({
  name: 'forget-wakes',
  text: `with resumed as (delete from root_pause where root_id = $1), waits as (delete from invariant_wait where root_id = $1)
    delete from wake where root_id = $1`,
  params: [uuid],
})

/** Deletes the queue's rows of a tree that is gone. */
export async function forgetRoot(client: Client, rootId: string): Promise<void> {
  await FORGET_WAKES.query(client, [rootId])
  await scheduleRoot(client, rootId, null)
}
