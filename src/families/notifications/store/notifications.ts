import { createHash } from 'node:crypto'
import type { Labels } from '../../../core/place.ts'
import type { PhaseChangeRecord } from '../../../core/ports/phase-change.ts'
import type { Reach } from '../../../core/rights.ts'
import type { Client } from '../../../store/client.ts'
import {
  array,
  bigint,
  boolean,
  bytea,
  integer,
  json,
  jsonb,
  nullable,
  required,
  text,
  textOf,
  timestamptz,
  uuid,
} from '../../../store/column-types.ts'
import { heldSql } from '../../../store/holds.ts'
import { byKey, direction, type Window } from '../../../store/loaders/window.ts'
import { HEAD } from '../../../store/log-mark.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { Editor } from '../../on-behalf.ts'
import type { RuleSpec, State, Told } from '../rules/spec.ts'
import { URGED } from './waits.ts'

/** Messages of rules: written with the position in the log, sent until the receiver has taken them. */

/** Messages that wait for a rule's receiver. A rule with more stays behind in the log. */
export const MAX_PENDING = 10_000
/** A rule that is behind catches up while it has at most this many: a step writes a thousand. */
export const ROOM_BELOW = MAX_PENDING - 1_000
/** Messages that have ended and are kept, of each rule. */
export const KEPT: Readonly<Record<Exclude<State, 'PENDING'>, number>> = { DELIVERED: 1_000, FAILED: 10_000 }
/** A process that has claimed a message, and says nothing of it, has ended. */
export const LEASE_MS = 15_000

/**
 * The position of all rules that are not behind, locked until the transaction ends, with the end of the log; null: another process
 * has it.
 */
const LOCK_CURSOR = statement({
  name: 'lock-notification-cursor',
  text: `select sequence, mark, ${HEAD} as head from notification_cursor for update skip locked`,
  row: { sequence: nullable(bigint), mark: nullable(text), head: bigint },
})
export async function lockCursor(client: Client) {
  const { rows } = await LOCK_CURSOR.query(client, [])
  return rows[0] ?? null
}
const MOVE_CURSOR = statement({
  name: 'move-notification-cursor',
  text: 'update notification_cursor set sequence = $1, mark = $2',
  params: [nullable(bigint), nullable(text)],
})
/** Shows if there may be something to do. It takes no lock, which would be a write, and so wake whoever waits for one. */
const LOOK = statement({
  name: 'look-at-log',
  text: `select c.sequence, exists (select from notification_rule where is_enabled) as "isAny",
      c.sequence is distinct from ${HEAD}
        and exists (select from notification_rule where is_enabled and behind_sequence is null) as "isMoved",
      exists (select from notification_rule r where r.is_enabled and r.behind_sequence is not null
        and not ${heldSql('r.project_id')} and (select count(*) from (
          select from notification n where n.rule_id = r.id and n.state = 'PENDING' limit ${ROOM_BELOW}) as pending) < ${ROOM_BELOW}
      ) as "isBehind"
    from notification_cursor c`,
  row: { sequence: nullable(bigint), isMoved: boolean, isAny: boolean, isBehind: boolean },
})
export async function lookAtLog(client: Client) {
  const { rows } = await LOOK.query(client, [])
  return rows[0] ?? { sequence: null, isMoved: false, isAny: false, isBehind: false }
}
interface Position {
  readonly sequence: number
  readonly mark: string | null
}
export async function moveCursor(client: Client, position: Position | null): Promise<void> {
  await MOVE_CURSOR.query(client, [position?.sequence ?? null, position?.mark ?? null])
}

const ENABLED = statement({
  name: 'enabled-notification-rules',
  text: `select id, project_id as "projectId", spec, editor, after_sequence as "afterSequence",
      behind_sequence as "behindSequence", behind_mark as "behindMark", ${heldSql('r.project_id')} as "isHeld"
    from notification_rule r where is_enabled order by id`,
  row: {
    id: uuid,
    projectId: uuid,
    spec: json<RuleSpec>(),
    editor: json<Editor>(),
    afterSequence: bigint,
    behindSequence: nullable(bigint),
    behindMark: nullable(text),
    isHeld: boolean,
  },
})
export async function enabledRules(client: Client) {
  const { rows } = await ENABLED.query(client, [])
  return rows
}
export type EnabledRule = Awaited<ReturnType<typeof enabledRules>>[number]

const TROUBLED = statement({
  text: `select r.name, p.name as project, r.behind_sequence is not null as "isBehind", w.first_sent_at as "failingSince",
      w.problem as "failing", l.ended_at as "lostAt", l.problem as "lost"
    from notification_rule r join project p on p.id = r.project_id
    left join lateral (
      select n.first_sent_at, n.problem from notification n where n.rule_id = r.id and n.due is not null and n.problem is not null
      order by n.due limit 1) w on true
    left join lateral (
      select n.ended_at, n.problem from notification n where n.rule_id = r.id and n.state = 'FAILED' and n.state <> 'PENDING'
      order by n.seq desc limit 1) l on true
    where r.is_enabled and ($1::uuid[] is null or r.project_id = any($1)) and ($2 or r.spec -> 'changes' -> 'projects' is null)
      and (r.behind_sequence is not null or w.problem is not null or l.ended_at is not null) and not ${heldSql('r.project_id')}
    order by r.id limit $3`,
  params: [nullable(array(uuid)), boolean, bigint],
  row: {
    ...{ name: table.notificationRule.name, project: table.project.name, isBehind: required(boolean) },
    ...{
      failingSince: nullable(timestamptz),
      failing: nullable(text),
      lostAt: nullable(timestamptz),
      lost: nullable(text),
    },
  },
})
/** Rules that are behind, or whose receivers do not take their messages. */
export const troubledRules = async (client: Client, { projects, isAdministrator }: Reach, limit: number) =>
  (await TROUBLED.query(client, [projects, isAdministrator, limit])).rows

const FALL_BEHIND = statement({
  name: 'fall-behind',
  text: 'update notification_rule set behind_sequence = $2, behind_mark = $3 where id = any($1::uuid[])',
  params: [array(uuid), nullable(bigint), nullable(text)],
})
/** Null: they are where the others are. */
export async function fallBehind(client: Client, rules: readonly string[], position: Position | null): Promise<void> {
  if (rules.length > 0) await FALL_BEHIND.query(client, [rules, position?.sequence ?? null, position?.mark ?? null])
}

const LABELS = statement({
  name: 'labels-of-roots',
  text: 'select object_id as id, labels from object_spec where object_id = any($1::uuid[])',
  params: [array(uuid)],
  row: { id: uuid, labels: json<Labels>() },
})
export async function labelsOfRoots(client: Client, roots: readonly string[]): Promise<ReadonlyMap<string, Labels>> {
  if (roots.length === 0) return new Map()
  const { rows } = await LABELS.query(client, [[...new Set(roots)]])
  return new Map(rows.map(({ id, labels }) => [id, labels]))
}

/** Two transactions write messages of a rule, or how they have ended, one after the other. */
const LOCK_RULES = statement({
  name: 'lock-notification-rules',
  text: 'select id from notification_rule where id = any($1::uuid[]) order by id for no key update',
  params: [array(uuid)],
  row: { id: uuid },
})
export async function lockRules(client: Client, rules: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await LOCK_RULES.query(client, [[...new Set(rules)]])
  return new Set(rows.map(({ id }) => id))
}

const PENDING = statement({
  name: 'count-pending-notifications',
  text: `select r.id, (select count(*) from (
      select from notification n where n.rule_id = r.id and n.state = 'PENDING' limit $2) as pending) as count
    from unnest($1::uuid[]) as r(id)`,
  params: [array(uuid), bigint],
  row: { id: required(uuid), count: bigint },
})
/** At most MAX_PENDING each. */
export async function countPending(client: Client, rules: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await PENDING.query(client, [rules, MAX_PENDING])
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/**
 * The same for the same change after a failover to an older copy of the database, where the message is written again. A
 * change that only the lost copy had has another one, even if its numbers are given again.
 */
export function messageId(rule: string, { batchId, idx, objectId, to, at }: PhaseChangeRecord): string {
  const hash = createHash('sha256').update([rule, batchId, idx, objectId, to, at.getTime()].join(' ')).digest('hex')
  // A UUID of version 8, whose bits are the application's own.
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `a${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-')
}

export interface NewMessage {
  readonly id: string
  readonly ruleId: string
  readonly subjectId: string
  readonly told: Told
  /** Null: it is sent at once. */
  readonly notBefore: Date | null
}
/** The first of each subject is due at its time, unless an earlier one of it waits. */
const INSERT = statement({
  name: 'insert-notifications',
  text: `insert into notification (id, rule_id, subject_id, told, state, due, attempts, is_late, created_at, not_before)
    select m.id, m."ruleId", m."subjectId", m.told, 'PENDING',
      case when row_number() over (partition by m."ruleId", m."subjectId" order by m.n) = 1 and not exists (
        select from notification n where n.rule_id = m."ruleId" and n.subject_id = m."subjectId" and n.state = 'PENDING'
      ) then greatest($2::timestamptz, m."notBefore") end, 0, false, $2, m."notBefore"
    from rows from (jsonb_to_recordset($1)
        as (id uuid, "ruleId" uuid, "subjectId" uuid, told jsonb, "notBefore" timestamptz)) with ordinality
      as m(id, "ruleId", "subjectId", told, "notBefore", n)
    where not exists (select from notification n where n.id = m.id)
    order by m.n on conflict (id) do nothing`,
  params: [jsonb, timestamptz],
})
/** The rules are locked. */
export async function insertMessages(client: Client, messages: readonly NewMessage[], now: Date): Promise<void> {
  if (messages.length > 0) await INSERT.query(client, [JSON.stringify(messages), now])
}

const CLAIM = statement({
  name: 'claim-notifications',
  text: `with free as (
      select r.id, coalesce(f.n, $3) as n from notification_rule r
      left join unnest($1::uuid[], $2::integer[]) as f(id, n) on f.id = r.id
      where r.is_enabled and not ${heldSql('r.project_id')}
    ), due as materialized (
      select m.id, m.due from free cross join lateral (
        select n.id, n.due from notification n where n.rule_id = free.id and n.due <= $4 order by n.due limit free.n
        for no key update skip locked) m
      -- Rules without anything under way come first: receivers that hang keep no other waiting.
      order by free.n desc, random() limit $5
    ), claimed as (
      update notification n set due = $6, attempts = attempts + 1, first_sent_at = coalesce(first_sent_at, $4) from due where n.id = due.id returning n.*
    )
    select c.id, c.rule_id as "ruleId", c.told, c.attempts, c.is_late as "isLate", c.first_sent_at as "firstSentAt",
      coalesce(c.not_before = ${URGED}, false) as "isUrged",
      c.due as "leaseUntil", r.name as rule, r.spec, r.editor, r.project_id as "projectId", p.name as project, s.sealed,
      coalesce((select max(e.hops) from jsonb_array_elements(coalesce(c.told -> 'changes', jsonb_build_array(c.told -> 'change'))) as t(change)
        join event e on e.object_id = (t.change ->> 'rootId')::uuid), 0) as hops
    from claimed c join notification_rule r on r.id = c.rule_id join project p on p.id = r.project_id
    left join secret s on s.project_id = r.project_id and s.name = r.spec->'receiver'->>'secret'
    order by c.seq`,
  params: [array(uuid), array(integer), integer, timestamptz, bigint, timestamptz],
  row: {
    id: uuid,
    ruleId: uuid,
    told: json<Told>(),
    attempts: integer,
    isLate: boolean,
    isUrged: boolean,
    firstSentAt: required(timestamptz),
    leaseUntil: required(timestamptz),
    rule: text,
    spec: json<RuleSpec>(),
    editor: json<Editor>(),
    projectId: uuid,
    project: text,
    sealed: nullable(bytea),
    hops: integer,
  },
})
/** @param free how many more messages this process may send, for the rules of which it is sending some, and for another rule */
export async function claimMessages(
  client: Client,
  free: { readonly of: ReadonlyMap<string, number>; readonly others: number; readonly all: number },
  now: Date,
) {
  const { rows } = await CLAIM.query(client, [
    ...([[...free.of.keys()], [...free.of.values()], free.others, now, free.all] as const),
    new Date(now.getTime() + LEASE_MS),
  ])
  return rows
}
export type ClaimedMessage = Awaited<ReturnType<typeof claimMessages>>[number]

const NEXT_DUE = statement({
  name: 'next-notification',
  text: `select min(m.due) as due from notification_rule r cross join lateral (
      select n.due from notification n where n.rule_id = r.id and n.due is not null order by n.due limit 1) m
    where r.is_enabled and r.id <> all($1::uuid[]) and not ${heldSql('r.project_id')}`,
  params: [array(uuid)],
  row: { due: nullable(timestamptz) },
})
/** @param except rules that send as many as they may */
export const nextDue = async (client: Client, except: readonly string[]): Promise<Date | null> =>
  (await NEXT_DUE.query(client, [except])).rows[0]?.due ?? null

export interface Ended {
  readonly id: string
  readonly ruleId: string
  /** The end of its claim: a message that another process has claimed since is left. */
  readonly leaseUntil: Date
  readonly state: State
  /** When it is tried again; null: it has ended. */
  readonly due: Date | null
  /** It was not sent after all, since this time is a quiet one; null: it was. */
  readonly attempts: number | null
  readonly problem: string | null
}
const END = statement({
  name: 'end-notifications',
  text: `update notification n set state = e.state, due = e.due, problem = case when e.attempts is null then e.problem else n.problem end,
      ended_at = case when e.due is null then $2::timestamptz end, attempts = coalesce(e.attempts, n.attempts),
      first_sent_at = case when e.attempts = 0 then null else n.first_sent_at end,
      not_before = case when e.attempts is null then n.not_before else e.due end
    from jsonb_to_recordset($1) as e(id uuid, state text, due timestamptz, problem text, "leaseUntil" timestamptz, attempts integer)
    where n.id = e.id and n.state = 'PENDING' and n.due = e."leaseUntil"
      and (e.attempts is null or n.not_before is distinct from ${URGED})`,
  params: [jsonb, timestamptz],
})
const RELEASE = statement({
  name: 'release-notifications',
  text: `update notification n set due = greatest($2, n.not_before) from (
      select distinct on (w.rule_id, w.subject_id) w.id from notification w
      where w.state = 'PENDING' and (w.rule_id, w.subject_id) in (
        select e.rule_id, e.subject_id from notification e where e.id = any($1::uuid[]) and e.state <> 'PENDING')
      order by w.rule_id, w.subject_id, w.seq
    ) as head where n.id = head.id and n.due is null`,
  params: [array(uuid), timestamptz],
})
const FORGET = statement({
  name: 'forget-notifications',
  text: `delete from notification where id in (
      select m.id from unnest($1::uuid[]) as r(id) cross join lateral (
        select n.id from notification n where n.rule_id = r.id and n.state = $2 order by n.seq desc offset $3 limit 1000) m)
    returning id`,
  params: [array(uuid), text, bigint],
  row: { id: uuid },
})
const FORGET_STEP = 1_000
const FORGET_STEPS = 20
/** The rules are locked. The next message of each subject that has ended becomes due. */
export async function endMessages(client: Client, ended: readonly Ended[], now: Date): Promise<void> {
  await END.query(client, [JSON.stringify(ended), now])
  await RELEASE.query(client, [ended.map(({ id }) => id), now])
}
export async function forgetMessages(client: Client, rules: readonly string[]): Promise<void> {
  for (const [state, kept] of Object.entries(KEPT))
    for (let i = 0; i < FORGET_STEPS; i += 1)
      if (((await FORGET.query(client, [rules, state, kept])).rowCount ?? 0) < FORGET_STEP) break
}

const REPLAY = statement({
  name: 'replay-notification',
  text: `update notification set state = 'PENDING', due = $2, attempts = 0, is_late = true, problem = null, ended_at = null,
      first_sent_at = null, not_before = null
    where id = $1 and state <> 'PENDING' returning id`,
  params: [uuid, timestamptz],
  row: { id: uuid },
})
/** False: it is not ended. */
export const replayMessage = async (client: Client, message: string, now: Date): Promise<boolean> =>
  (await REPLAY.query(client, [message, now])).rows.length > 0

export interface MessageRow {
  readonly id: string
  readonly ruleId: string
  readonly seq: number
  readonly told: Told
  readonly state: State
  readonly due: Date | null
  readonly attempts: number
  readonly isLate: boolean
  readonly problem: string | null
  readonly createdAt: Date
  readonly endedAt: Date | null
}
/** A page has many messages, and a digest may be long. */
const SHOWN_TOLD = `case when n.told ->> 'type' = 'DIGEST'
    then jsonb_set(n.told, '{changes}', jsonb_path_query_array(n.told, '$.changes[0 to 4]')) else n.told end as told`
const COLUMNS = `n.id, n.rule_id as "ruleId", n.seq, ${SHOWN_TOLD}, n.state, n.due, n.attempts, n.is_late as "isLate", n.problem,
  n.created_at as "createdAt", n.ended_at as "endedAt"`
const { subjectId: _, firstSentAt: _firstSentAt, notBefore: _notBefore, ...columns } = table.notification
const ROW = { ...columns, told: json<Told>(), state: textOf<State>() }

const LOAD = statement({
  text: `select ${COLUMNS}, r.project_id as "projectId" from notification n join notification_rule r on r.id = n.rule_id where n.id = $1`,
  params: [uuid],
  row: { ...ROW, projectId: uuid },
})
export async function loadMessage(client: Client, message: string) {
  const { rows } = await LOAD.query(client, [message])
  return rows[0] ?? null
}

// The newest first.
const page = (order: 'asc' | 'desc') =>
  statement({
    text: `select r.id as key, n.* from unnest($1::uuid[]) as r(id) cross join lateral (
        select ${COLUMNS} from notification n where n.rule_id = r.id
          and ($2::bigint is null or n.seq < $2) and ($3::bigint is null or n.seq > $3)
        order by n.seq ${order} limit $4) n
      order by n.seq desc`,
    params: [array(uuid), nullable(bigint), nullable(bigint), bigint],
    row: { key: required(uuid), ...ROW },
  })
const PAGE = { asc: page('desc'), desc: page('asc') }
export async function loadMessages(
  client: Client,
  rules: readonly string[],
  window: Window<number>,
): Promise<ReadonlyMap<string, readonly MessageRow[]>> {
  const { after, before, limit } = window
  const { rows } = await PAGE[direction(window)].query(client, [rules, after, before, limit])
  return byKey(rules, rows, ({ key: _key, ...message }) => message)
}
const COUNT = statement({
  text: 'select rule_id as id, count(*) as count from notification where rule_id = any($1::uuid[]) group by 1',
  params: [array(uuid)],
  row: { id: uuid, count: bigint },
})
export async function countMessages(client: Client, rules: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT.query(client, [rules])
  return new Map([...rules.map((id) => [id, 0] as const), ...rows.map(({ id, count }) => [id, count] as const)])
}
