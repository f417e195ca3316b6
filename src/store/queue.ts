import type { ObjectRow } from '../core/tree.ts'
import { awaitAll } from './await-all.ts'
import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'
import { array, bigint, float8, integer, nullable, text, timestamptz, uuid } from './column-types.ts'
import { OBJECT_COLUMNS } from './columns.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { statementTime, timeNow } from './time.ts'
import { IS_OPEN } from './work-states.ts'

/** Which trees want attention: words left by others (`wake`), and clocks (`root_queue`). */

export interface RootLock {
  readonly row: ObjectRow
  readonly projectName: string
  readonly wakeAt: Date | null
  readonly failures: number
  /** The time by which the tree is judged: read when the lock is there. */
  readonly at: Date
}

// Without a word of the parent, which roots do not have: that would let a plan go through all roots for the one.
const lock = (name: string, suffix: string) =>
  statement({
    name,
    text: `select ${OBJECT_COLUMNS.map(({ property, column }) => `o."${column}" as "${property}"`).join(', ')},
        (select p.name from project p where p.id = o.project_id) as "projectName"
      from object o where o.id = $1 and o.root_id = $1 for no key update ${suffix}`,
    params: [uuid],
    row: { ...table.object, projectName: table.project.name },
  })
const LOCK = lock('lock-root', '')
const LOCK_UNLESS_LOCKED = lock('lock-root-skip', 'skip locked')
// Whether or not it is queued, it tells the time.
const QUEUED = statement({
  name: 'root-queued',
  text: `select q.wake_at, q.failures, ${timeNow('$2')} as at from (values (1)) one left join root_queue q on q.root_id = $1`,
  params: [uuid, nullable(timestamptz)],
  row: { wake_at: nullable(table.rootQueue.wakeAt), failures: nullable(table.rootQueue.failures), at: timestamptz },
})

/**
 * What it waits for is asked for in a statement of its own, which sees what the holder before has committed; so is the time,
 * which is then later than anything that the holder before has written down.
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
  const { projectName, ...row } = found
  const [told] = queued.rows
  if (!told) throw new Error('the database did not tell its time')
  return { row, projectName, wakeAt: told.wake_at, failures: told.failures ?? 0, at: told.at }
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
  text: `with words as (select id from wake where root_id = $1 order by id limit 64)
      delete from wake w using words where w.root_id = $1 and w.id = words.id returning w.object_ids, w.reason`,
  params: [uuid],
  row: { object_ids: table.wake.objectIds, reason: table.wake.reason },
})

/** Taken under the root's lock: whatever comes later stays for the next transaction. */
export async function takeWakes(
  client: Client,
  rootId: string,
): Promise<readonly { objectIds: readonly string[]; reason: string | null }[]> {
  const { rows } = await TAKE_WAKES.query(client, [rootId])
  return rows.map(({ object_ids, reason }) => ({ objectIds: object_ids, reason }))
}

/** So many ids a row, so that one word never brings a whole large tree at once. */
const WORD = 1_000

const INSERT_WAKE = statement({
  name: 'insert-wake',
  text: 'insert into wake (root_id, object_ids, reason) values ($1, $2::uuid[], $3)',
  params: [uuid, array(uuid), nullable(text)],
})

export async function insertWakes(
  client: Client,
  rootId: string,
  ids: readonly string[],
  reason: string | null,
): Promise<void> {
  const words = Array.from({ length: Math.ceil(ids.length / WORD) }, (_, i) => ids.slice(i * WORD, (i + 1) * WORD))
  await awaitAll(words.map((word) => INSERT_WAKE.query(client, [rootId, binaryUuids(word), reason])))
}

const DUE_WORK = statement({
  name: 'due-work',
  text: `(select object_id from work where root_id = $1 and ${IS_OPEN} and due_at <= $2 order by due_at limit 1000)
      union
      (select object_id from work where root_id = $1 and lease_watched and state = 1 and lease_until <= $2 limit 1000)`,
  params: [uuid, timestamptz],
  row: { object_id: uuid },
})

export async function dueWork(client: Client, rootId: string, now: Date): Promise<readonly string[]> {
  const { rows } = await DUE_WORK.query(client, [rootId, now])
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

/** Takes back work whose object was removed by hand: nobody will ever end it. Its parent is known from the log. */
export async function takeLostWork(
  client: Client,
  objectIds: readonly string[],
): Promise<readonly { parentId: string | null; jobId: string | null }[]> {
  const { rows } = await TAKE_LOST_WORK.query(client, [objectIds])
  return rows
}

const NEXT_DUE = statement({
  name: 'next-due',
  text: `select least(
        (select min(due_at) from work where root_id = $1 and ${IS_OPEN}),
        (select min(lease_until) from work where root_id = $1 and lease_watched and state = 1)) as at`,
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

const DELAY_ROOT = statement({
  name: 'delay-root',
  text: `insert into root_queue (root_id, wake_at, failures) values ($1, $2, $3)
      on conflict (root_id) do update set wake_at = excluded.wake_at, failures = excluded.failures`,
  params: [uuid, timestamptz, integer],
})

/** A tree that failed is left alone until its backoff is over. */
export async function delayRoot(client: Client, rootId: string, at: Date, failures: number): Promise<void> {
  await DELAY_ROOT.query(client, [rootId, at, failures])
}

const DUE = statement({
  name: 'due-roots',
  text: `select root_id from (
    select w.root_id, min(w.id) as first from wake w
      where not exists (select 1 from root_queue q where q.root_id = w.root_id and q.failures > 0 and q.wake_at > ${statementTime('$1')})
      group by w.root_id order by first limit $2
  ) words
  union
  (select root_id from root_queue where wake_at <= ${statementTime('$1')} order by wake_at limit $2)`,
  params: [nullable(timestamptz), bigint],
  row: { root_id: uuid },
})

/**
 * Trees that want attention now; candidates only, the lock decides.
 * @param time null: the database's own
 */
export async function dueRoots(client: Client, time: Date | null, limit: number): Promise<readonly string[]> {
  const { rows } = await DUE.query(client, [time, limit])
  return rows.map((row) => row.root_id)
}

const NEXT_CLOCK = statement({
  name: 'next-clock',
  text: `select extract(epoch from min(wake_at) - ${timeNow('$1')})::float8 * 1000 as ms from root_queue`,
  params: [nullable(timestamptz)],
  row: { ms: nullable(float8) },
})

/** In how many milliseconds the next clock runs out; null: none runs. */
export async function untilNextClock(client: Client, time: Date | null): Promise<number | null> {
  const { rows } = await NEXT_CLOCK.query(client, [time])
  return rows[0]?.ms ?? null
}

const FORGET_WAKES = statement({ name: 'forget-wakes', text: 'delete from wake where root_id = $1', params: [uuid] })

/** Nothing is left of a tree that is gone. */
export async function forgetRoot(client: Client, rootId: string): Promise<void> {
  await FORGET_WAKES.query(client, [rootId])
  await scheduleRoot(client, rootId, null)
}
