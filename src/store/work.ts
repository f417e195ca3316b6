import type { ServedTargets } from '../core/target.ts'
import type { Actor, ObjectKind } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import {
  array,
  bigint,
  boolean,
  bytea,
  float8,
  integer,
  jsonb,
  nullable,
  required,
  text,
  timestamptz,
  uuid,
} from './column-types.ts'
import { selectivityHint } from './rows.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { plusMs, statementTime, timeNow } from './time.ts'
import { IS_CLAIMED, IS_FREE_TO_GO } from './work-states.ts'

/** Work as agents claim it. Candidates are chosen without locks; the tree's lock decides. */

export interface Candidate {
  readonly objectId: string
  readonly rootId: string
  /** True if a claim starts it. */
  readonly isStart: boolean
}

/** A place takes no new work but what is tied to it if it is drained, or lacks the labels (`mayStart` is the same rule). */
const placed = (places: string) => `(${IS_NO_START} or target is not null
          or ${places}::jsonb -> type is null or not (${places}::jsonb -> type ->> 'isDrained')::boolean
            and (target_labels is null or target_labels <@ (${places}::jsonb -> type -> 'labels')))`

/** Work that a claim does not start: `isStart` of a placement is the same rule. */
const IS_NO_START = "(action <> 'START' or picked_up_at is not null)"

/**
 * Work on objects of the kinds that the agent drives, in the projects in which it may claim. Types are only names: a
 * deployer and a runtime may share one. If the object of the work is gone, the claim determines its kind.
 */
const visible = (projects: string, kinds: string, places: string) => `(exists (
          select 1 from object o where o.id = object_id and o.kind = any(${kinds}::text[]::object_kind[])
            and (${IS_NO_START} or not coalesce(${places}::jsonb -> type -> 'full' ? o.kind::text, false))
            and (${projects}::uuid[] is null or o.project_id = any(${projects})) offset 0)
          or not exists (select from object o where o.id = object_id offset 0) and (${projects}::uuid[] is null or exists (
          select 1 from object_phase_change c where c.object_id = work.object_id and c.project_id = any(${projects}) offset 0)))`

/** The same rule as `takesTarget`. A target is looked up by its name in the project of the object. */
const targeted = (selector: string) => `case when ${selector}::jsonb is null
          then target is null or $2::text[] is null or target = any($2::text[])
          else target is null and $2::text[] is not null or target = any($2::text[])
            or (jsonb_typeof(${selector}::jsonb -> 'within') <> 'array' or ${selector}::jsonb -> 'within' ? target) and exists (
              select from object o cross join lateral (
                select from target r where r.project_id = o.project_id and r.name = work.target
                  and coalesce(r.type = ${selector}::jsonb ->> 'type', true) and r.labels @> (${selector}::jsonb -> 'labels') offset 0) r
              where o.id = object_id offset 0) end`

interface Suited {
  readonly projects: string
  readonly kinds: string
  readonly places: string
  readonly selector: string
}
const suits = ({ projects, kinds, places, selector }: Suited) =>
  `${targeted(selector)} and ${placed(places)} and ${visible(projects, kinds, places)}`
const SUITS = suits({ projects: '$5', kinds: '$6', places: '$7', selector: '$9' })
const IS_UNLOCKED = 'root_id <> all($8::uuid[])'
const IS_FREE = `${IS_UNLOCKED} and ${IS_FREE_TO_GO('work')}`

/**
 * Offered work, or work with an expired lease unless its stop was requested; oldest first. Searched type by type: only
 * then does an index have the order, and a claim need not scan all offered work.
 */
const CANDIDATES = statement({
  name: 'find-candidates',
  text: `select object_id as "objectId", root_id as "rootId", not ${IS_NO_START} as "isStart" from (
    (select w.* from (select distinct unnest($1::text[]) as type) t cross join lateral (
      select object_id, root_id, seq, action, picked_up_at from work
      where state = 0 and type = t.type and offer_after is null and ${IS_FREE} and ${SUITS} order by seq limit $4) w)
    union all
    (select w.* from (select distinct unnest($1::text[]) as type) t cross join lateral (
      select object_id, root_id, seq, action, picked_up_at from work
      where state = 0 and type = t.type and offer_after <= ${statementTime('$3')} and ${IS_FREE} and ${SUITS} order by offer_after limit $4) w)
    union all
    (select object_id, root_id, seq, action, picked_up_at from work
      where state = 1 and lease_until <= ${statementTime('$3')} and abort_requested_at is null and type = any($1::text[]) and ${IS_UNLOCKED} and ${SUITS}
      order by lease_until limit $4)
  ) c order by seq limit $4`,
  params: [
    array(text),
    nullable(array(text)),
    nullable(timestamptz),
    bigint,
    nullable(array(uuid)),
    array(text),
    jsonb,
    array(uuid),
    nullable(jsonb),
  ],
  row: { objectId: uuid, rootId: uuid, isStart: boolean },
})

export interface Wanted {
  readonly types: readonly string[]
  /** Null: any, or with a selector those that it selects. */
  readonly targets: readonly string[] | null
  readonly targetSelector: ServedTargets | null
  /** Ids; null: all. */
  readonly projects: readonly string[] | null
  /** Kinds that the agent drives. */
  readonly kinds: readonly ObjectKind[]
  /** Null: the database's own. */
  readonly time: Date | null
  readonly max: number
  /** The agent's place for each type of work; for a type that is not there no place is needed. */
  readonly places: Readonly<Record<string, PlaceOfType>>
  /** Trees whose work it leaves out. */
  readonly lockedTrees: readonly string[]
}
export interface PlaceOfType {
  readonly labels: Readonly<Record<string, string>>
  readonly isDrained: boolean
  /** Kinds of which it starts no more. */
  readonly full: readonly ObjectKind[]
}
export async function findCandidates(client: Client, wanted: Wanted): Promise<readonly Candidate[]> {
  const { types, targets, targetSelector, projects, kinds, time, max, places, lockedTrees } = wanted
  const [stated, selector] = [JSON.stringify(places), jsonOrNull(targetSelector)]
  const values = [types, targets, time, max, projects, kinds, stated, lockedTrees, selector] as const
  const { rows } = await CANDIDATES.query(client, values)
  return rows
}

const NEXT_OFFER = statement({
  name: 'next-offer',
  text: `select extract(epoch from min(at) - ${statementTime('$2')})::float8 * 1000 as ms from (
    (select w.at from (select distinct unnest($1::text[]) as type) t cross join lateral (
      select offer_after as at from work where state = 0 and type = t.type and offer_after is not null order by offer_after limit 1) w)
    union all
    (select lease_until from work where state = 1 and lease_until is not null order by lease_until limit 1)
  ) n`,
  params: [array(text), nullable(timestamptz)],
  row: { ms: nullable(float8) },
})

/** Milliseconds until work of these types is offered again, or any lease ends; null: there is none such. */
export async function untilNextOffer(
  client: Client,
  types: readonly string[],
  time: Date | null,
): Promise<number | null> {
  const { rows } = await NEXT_OFFER.query(client, [types, time])
  return rows[0]?.ms ?? null
}

const jsonOrNull = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))

const FIND_WORK_ROOTS = statement({
  name: 'find-work-roots',
  text: 'select object_id, root_id from work where object_id = any($1::uuid[])',
  params: [array(uuid)],
  row: { object_id: table.work.objectId, root_id: table.work.rootId },
})

/** The root of each piece of work; absent: there is no such work. */
export async function findRoots(client: Client, objectIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await FIND_WORK_ROOTS.query(client, [objectIds])
  return new Map(rows.map((row) => [row.object_id, row.root_id]))
}

// Holds the locks of the trees, shared: a claim that finds an expired lease, or a cancel, either sees the renewal or comes
// first. If it comes first, Postgres checks the conditions again on the changed row. Orphaned work has no tree, and no
// lock.
/** Milliseconds. */
const EARLY_MS = 5_000
const RENEWED = {
  ...{ objectId: table.work.objectId, hash: required(table.work.fenceHash) },
  ...{ leaseUntil: required(table.work.leaseUntil), abortRequested: boolean },
}
const renew = (name: string, suffix: string) =>
  statement({
    name,
    text: `with u as (select * from unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash)),
    roots as materialized (
      select o.id from (
        select distinct w.root_id as id from u cross join lateral (select root_id from work where object_id = u.id offset 0) w
        order by 1
      ) wanted cross join lateral (select id from object where id = wanted.id for share ${suffix}) o
    )
  update work w set lease_until = greatest(w.lease_until, ${plusMs(timeNow('$3'), '$5')}) from u
  where ${selectivityHint('u.id')} and w.object_id = u.id and w.fence_hash = u.fence_hash and w.${IS_CLAIMED} and w.principal_id = $4 and w.lease_until is not null
    and (w.root_id in (select id from roots) or not exists (select from object o where o.id = w.root_id offset 0))
  returning w.object_id as "objectId", w.fence_hash as hash, w.lease_until as "leaseUntil", w.abort_requested_at is not null as "abortRequested"`,
    params: [array(uuid), array(bytea), nullable(timestamptz), uuid, float8],
    row: RENEWED,
  })
const RENEW = renew('renew-leases', '')
const RENEW_UNLESS_LOCKED = renew('renew-leases-skip', 'skip locked')
/**
 * Renews without the tree's lock if a lease lasts for long enough that nobody can have judged it expired: a claim, or
 * the rules, would have to read a time that much later than this statement's, and still before its commit. Rows that
 * others are writing are left out.
 */
const RENEW_EARLY = statement({
  name: 'renew-leases-early',
  text: `with held as materialized (
      select w.object_id from unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash)
      cross join lateral (select object_id from work where object_id = u.id and fence_hash = u.fence_hash and ${IS_CLAIMED}
        and principal_id = $4 and lease_until > ${plusMs(timeNow('$3'), `${EARLY_MS}`)} for no key update skip locked) w
    )
  update work w set lease_until = greatest(w.lease_until, ${plusMs(timeNow('$3'), '$5')}) from held h
  where ${selectivityHint('h.object_id')} and w.object_id = h.object_id
  returning w.object_id as "objectId", w.fence_hash as hash, w.lease_until as "leaseUntil", w.abort_requested_at is not null as "abortRequested"`,
  params: [array(uuid), array(bytea), nullable(timestamptz), uuid, float8],
  row: RENEWED,
})
const HELD = statement({
  name: 'held-leases',
  text: `select w.object_id as "objectId" from unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash)
    join work w on w.object_id = u.id and w.fence_hash = u.fence_hash
    where w.${IS_CLAIMED} and w.principal_id = $3 and w.lease_until is not null`,
  params: [array(uuid), array(bytea), uuid],
  row: { objectId: table.work.objectId },
})

export interface Renewed {
  readonly objectId: string
  readonly hash: Buffer
  readonly leaseUntil: Date
  readonly abortRequested: boolean
}
export interface RenewedBy {
  readonly principalId: string
  readonly leaseMs: number
  /** Null: the database's own. */
  readonly time: Date | null
  /** Does not wait for a tree that another transaction has locked: of its leases, those that end soon are left out. */
  readonly skipLocked: boolean
}
interface FenceOf {
  readonly objectId: string
  readonly hash: Buffer
}
/**
 * A fence that was replaced, or whose work is over, renews nothing. `locked`: fences of locked trees, which were left
 * out.
 */
export async function renewLeases(
  client: Client,
  fences: readonly FenceOf[],
  { principalId, leaseMs, time, skipLocked }: RenewedBy,
): Promise<{ readonly renewed: ReadonlyMap<string, Renewed>; readonly locked: ReadonlySet<string> }> {
  const values = (of: readonly FenceOf[]) => [of.map((f) => f.objectId), of.map((f) => f.hash)] as const
  const renewed = new Map<string, Renewed>()
  const renew = async (how: typeof RENEW, of: readonly FenceOf[]): Promise<readonly FenceOf[]> => {
    const { rows } = await how.query(client, [...values(of), time, principalId, leaseMs])
    for (const row of rows) renewed.set(row.objectId, row)
    return of.filter(({ objectId }) => !renewed.has(objectId))
  }
  if (!skipLocked) {
    await renew(RENEW, fences)
    return { renewed, locked: NONE }
  }
  let left = await renew(RENEW_UNLESS_LOCKED, fences)
  if (left.length > 0) left = await renew(RENEW_EARLY, left)
  if (left.length === 0) return { renewed, locked: NONE }
  const held = await HELD.query(client, [...values(left), principalId])
  return { renewed, locked: new Set(held.rows.map(({ objectId }) => objectId)) }
}
const NONE: ReadonlySet<string> = new Set()

const WAITS = suits({ projects: '$4', kinds: '$5', places: '$6', selector: '$7' })
const WAITING = statement({
  name: 'count-waiting',
  text: `select type, count(*)::integer as waiting from (
    (select type from work where state = 0 and type = any($1::text[]) and offer_after is null and ${IS_FREE_TO_GO('work')} and ${WAITS} limit 10000)
    union all
    (select type from work where state = 0 and type = any($1::text[]) and offer_after <= ${statementTime('$3')} and ${IS_FREE_TO_GO('work')} and ${WAITS} limit 10000)
    union all
    (select type from work where state = 1 and lease_until <= ${statementTime('$3')} and abort_requested_at is null
      and type = any($1::text[]) and ${WAITS} limit 10000)
  ) w group by type order by type`,
  params: [
    ...([array(text), nullable(array(text)), nullable(timestamptz), nullable(array(uuid)), array(text)] as const),
    ...([jsonb, nullable(jsonb)] as const),
  ],
  row: { type: text, waiting: integer },
})

/** Number of claimable pieces of work by type; types without any are absent. */
export async function countWaiting(
  client: Client,
  { types, targets, targetSelector, projects, kinds, time, places }: Omit<Wanted, 'max' | 'lockedTrees'>,
): Promise<readonly { type: string; waiting: number }[]> {
  const values = [types, targets, time, projects, kinds, JSON.stringify(places), jsonOrNull(targetSelector)] as const
  const { rows } = await WAITING.query(client, values)
  return rows
}

const NOTE_AGENT = statement({
  name: 'note-agent',
  text: `insert into agent (id, principal_id, name, instance, actor, types, targets, connected_at, seen_at, target_selector, dry_runs)
      values ($1, $8, $2, $3, $4, $5, $6, $7, $7, $9, $10)
      on conflict (principal_id, instance) do update set name = excluded.name, types = excluded.types, targets = excluded.targets,
        target_selector = excluded.target_selector, dry_runs = excluded.dry_runs, seen_at = excluded.seen_at`,
  params: [
    uuid,
    text,
    text,
    table.actor,
    array(text),
    nullable(array(text)),
    timestamptz,
    uuid,
    nullable(jsonb),
    boolean,
  ],
})

/** Records that an agent's process has claimed, and for which work. */
export async function noteAgent(
  client: Client,
  agent: {
    id: string
    principalId: string
    name: string
    instance: string
    actor: Actor
    types: readonly string[]
    targets: readonly string[] | null
    targetSelector: ServedTargets | null
    dryRuns?: boolean
    now: Date
  },
): Promise<void> {
  await NOTE_AGENT.query(client, [
    agent.id,
    agent.name,
    agent.instance,
    agent.actor,
    agent.types,
    agent.targets,
    agent.now,
    agent.principalId,
    jsonOrNull(agent.targetSelector),
    agent.dryRuns ?? false,
  ])
}

const NOTE_SEEN = statement({
  name: 'note-seen',
  text: `update agent a set seen_at = $3 where a.principal_id = $1 and a.instance in (
        select w.instance from work w where w.object_id = any($2::uuid[]) and w.principal_id = $1)`,
  params: [uuid, array(uuid), timestamptz],
})

/** Records that the processes with this work are alive. */
export async function noteSeen(
  client: Client,
  principalId: string,
  objectIds: readonly string[],
  now: Date,
): Promise<void> {
  await NOTE_SEEN.query(client, [principalId, objectIds, now])
}
