import type { Client } from '../../../store/client.ts'
import {
  array,
  bigint,
  boolean,
  json,
  jsonb,
  nullable,
  required,
  text,
  textOf,
  timestamptz,
  uuid,
} from '../../../store/column-types.ts'
import { detailsTable } from '../../../store/columns.ts'
import { heldSql } from '../../../store/holds.ts'
import { keyedDetails, keysOf } from '../../../store/loaders/keyed.ts'
import { type Projects, visible } from '../../../store/loaders/objects.ts'
import { byKey, direction, type Window } from '../../../store/loaders/window.ts'
import { type StatementRow, statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { DetailsTable, Family } from '../../family.ts'
import type { Editor } from '../../on-behalf.ts'
import { NEW_SCHEDULE, type ScheduleSpec } from '../rules/spec.ts'
import { OPEN_BACKFILLS, writeBackfill } from './backfills.ts'
import { KEPT_FIRINGS } from './kept.ts'

/**
 * Outcomes of firings. PENDING and QUEUED ones are still to start something, WAITING ones when it is their turn in a backfill;
 * what a FIRED one has started runs until its `ended_at` is set.
 */
export const OUTCOMES = ['PENDING', 'QUEUED', 'WAITING', 'FIRED', 'SKIPPED', 'REFUSED', 'FORBIDDEN'] as const
export type Outcome = (typeof OUTCOMES)[number]

export const detailsTables: readonly DetailsTable[] = [
  detailsTable('schedule', ['SCHEDULE'], table.schedule, NEW_SCHEDULE),
]
export const loadSchedules = keyedDetails(
  'schedule',
  { ...table.schedule, editor: nullable(json<Editor>()) },
  keysOf(NEW_SCHEDULE),
)

const WRITE_FIRINGS = statement({
  name: 'write-firings',
  text: `insert into firing (id, schedule_id, cause, due, last_due, count, at, outcome, reason)
    select id, $1, cause, due, "lastDue", count, $3, case when skipped is null then 'PENDING' else 'SKIPPED' end, skipped
    from jsonb_to_recordset($2) as f(id uuid, cause text, due timestamptz, "lastDue" timestamptz, count integer, skipped text)
    on conflict (schedule_id, cause, due) do nothing`,
  params: [uuid, jsonb, timestamptz],
})

const PRUNE_FIRINGS = statement({
  name: 'prune-firings',
  text: `delete from firing where id in (
      select id from firing where schedule_id = $1 and backfill_id is null and outcome not in ('PENDING', 'QUEUED')
        and (outcome <> 'FIRED' or ended_at is not null)
      order by id desc offset $2 limit 100)`,
  params: [uuid, bigint],
})

export const effects: Family['effects'] = {
  writeFirings: async (client, _root, { scheduleId, firings }, now) => {
    await WRITE_FIRINGS.query(client, [scheduleId, JSON.stringify(firings), now])
    await PRUNE_FIRINGS.query(client, [scheduleId, KEPT_FIRINGS])
    return []
  },
  writeBackfill,
}

export interface FiringRow {
  readonly id: string
  readonly scheduleId: string
  readonly cause: string
  readonly due: Date
  readonly lastDue: Date | null
  readonly count: number | null
  readonly at: Date
  readonly outcome: Outcome
  readonly reason: string | null
  readonly startedId: string | null
  readonly endedAt: Date | null
  readonly backfillId: string | null
}
const COLUMNS = `f.id, f.schedule_id as "scheduleId", f.cause, f.due, f.last_due as "lastDue", f.count, f.at, f.outcome, f.reason,
  f.started_id as "startedId", f.ended_at as "endedAt", f.backfill_id as "backfillId"`
const ROW = { ...table.firing, outcome: textOf<Outcome>() }

interface Listed {
  readonly key: string
  readonly also: string
}
// The newest first: ids are made in the order of their times.
const page = ({ key, also }: Listed, order: 'asc' | 'desc') =>
  statement({
    text: `select s.id as key, f.* from unnest($1::uuid[]) as s(id) cross join lateral (
        select ${COLUMNS} from firing f where f.${key} = s.id ${also}
          and ($2::uuid is null or f.id < $2) and ($3::uuid is null or f.id > $3)
        order by f.id ${order} limit $4) f
      order by f.id desc`,
    params: [array(uuid), nullable(uuid), nullable(uuid), bigint],
    row: { key: required(uuid), ...ROW },
  })
const count = ({ key, also }: Listed) =>
  statement({
    text: `select ${key} as id, count(*) as count from firing where ${key} = any($1::uuid[]) ${also} group by 1`,
    params: [array(uuid)],
    row: { id: required(uuid), count: bigint },
  })
/** The firings of a schedule apart from its backfills, or those of a backfill. */
const listOf = (listed: Listed) => ({
  pages: { asc: page(listed, 'desc'), desc: page(listed, 'asc') },
  count: count(listed),
})
const LISTS = {
  schedule: listOf({ key: 'schedule_id', also: 'and backfill_id is null' }),
  backfill: listOf({ key: 'backfill_id', also: '' }),
}
type Owner = keyof typeof LISTS
export async function loadFirings(
  client: Client,
  owner: Owner,
  ids: readonly string[],
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly FiringRow[]>> {
  const { after, before, limit } = window
  const { rows } = await LISTS[owner].pages[direction(window)].query(client, [ids, after, before, limit])
  return byKey(ids, rows, ({ key: _, ...firing }) => firing)
}
export async function countFirings(
  client: Client,
  owner: Owner,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await LISTS[owner].count.query(client, [ids])
  return new Map([...ids.map((id) => [id, 0] as const), ...rows.map(({ id, count }) => [id, count] as const)])
}

const DAYS = statement({
  text: `select f.schedule_id as key, to_char(f.due at time zone $4, 'YYYY-MM-DD') as date,
      count(*) filter (where f.outcome = 'FIRED') as fired,
      coalesce(sum(coalesce(f.count, 1000)) filter (where f.outcome = 'SKIPPED'), 0) as skipped,
      count(*) filter (where f.outcome in ('REFUSED', 'FORBIDDEN')) as refused,
      count(*) filter (where f.outcome in ('PENDING', 'QUEUED', 'WAITING')) as waiting
    from firing f where f.schedule_id = any($1::uuid[]) and f.due >= $2 and f.due < $3 group by 1, 2 order by 1, 2`,
  params: [array(uuid), timestamptz, timestamptz, text],
  row: { key: required(uuid), date: required(text), fired: bigint, skipped: bigint, refused: bigint, waiting: bigint },
})
/** A stretch of time, in days of a time zone. */
export interface Stretch {
  readonly from: Date
  readonly until: Date
  readonly timeZone: string
}
export type DayRow = StatementRow<typeof DAYS>
/** The firings of each schedule by day, those of its backfills with them. */
export async function loadDays(
  client: Client,
  schedules: readonly string[],
  { from, until, timeZone }: Stretch,
): Promise<ReadonlyMap<string, readonly DayRow[]>> {
  const { rows } = await DAYS.query(client, [schedules, from, until, timeZone])
  return byKey(schedules, rows, (day) => day)
}

const TROUBLED = statement({
  text: `select o.id, o.name, p.name as project, s.is_overdue as "isOverdue", s.last_due as "lastDue",
      f.reason, f.at as "refusedAt"
    from (
      select d.object_id, d.last_due,
        d.overdue_at is null and (x.spec ->> 'successWithinSeconds') is not null as is_overdue
      from schedule d join object_spec x on x.object_id = d.object_id
    ) s join object o on o.id = s.object_id join project p on p.id = o.project_id
    left join lateral (
      select f.reason, f.at, f.outcome from firing f where f.schedule_id = o.id and f.backfill_id is null order by f.id desc limit 1
    ) f on f.outcome in ('REFUSED', 'FORBIDDEN')
    where o.phase = 'ACTIVE' and ${visible('$1')} and (s.is_overdue or f.outcome is not null)
    order by o.id limit $2`,
  params: [nullable(array(uuid)), bigint],
  row: {
    ...{ id: table.object.id, name: table.object.name, project: table.project.name, isOverdue: boolean },
    ...{ lastDue: nullable(timestamptz), reason: nullable(text), refusedAt: nullable(timestamptz) },
  },
})
/** Active schedules that are overdue, or whose last firing was refused, of these projects; null: of all. */
export const troubledSchedules = async (client: Client, projects: Projects, limit: number) =>
  (await TROUBLED.query(client, [projects, limit])).rows

const LOCK_FIRINGS = statement({
  name: 'lock-firings',
  text: `select s.id from unnest($1::uuid[]) as s(id) where pg_try_advisory_xact_lock(hashtextextended('firings of ' || s.id, 4))`,
  params: [array(uuid)],
  row: { id: required(uuid) },
})
/** Locks the firings of these schedules until the transaction ends, and answers whose no other process had locked. */
export async function lockFirings(client: Client, schedules: readonly string[]): Promise<readonly string[]> {
  const { rows } = await LOCK_FIRINGS.query(client, [schedules])
  return rows.map(({ id }) => id)
}

const READ_SCHEDULES = statement({
  name: 'read-schedules',
  text: `select o.id, o.name, o.generation, o.project_id as "projectId", p.name as "projectName", s.spec, d.editor, d.fired_count as "firedCount",
      ${heldSql('o.project_id')} as "isHeld"
    from object o join object_spec s on s.object_id = o.id join schedule d on d.object_id = o.id
    join project p on p.id = o.project_id where o.id = any($1::uuid[])`,
  params: [array(uuid)],
  row: {
    id: table.object.id,
    name: table.object.name,
    generation: table.object.generation,
    projectId: table.object.projectId,
    projectName: table.project.name,
    spec: json<ScheduleSpec>(),
    editor: nullable(json<Editor>()),
    firedCount: table.schedule.firedCount,
    isHeld: boolean,
  },
})
export type OpenSchedule = StatementRow<typeof READ_SCHEDULES>
export const readSchedules = async (client: Client, ids: readonly string[]): Promise<readonly OpenSchedule[]> =>
  (await READ_SCHEDULES.query(client, [ids])).rows
export const readSchedule = async (client: Client, id: string): Promise<OpenSchedule | null> =>
  (await readSchedules(client, [id]))[0] ?? null

/** Firings of a schedule that are read at once. */
export const MAX_OPEN = 1_000

/**
 * The firings about which there is something to decide.
 * @param outstandingSql true for an object `o` with a job that is still to begin
 * @param restingWords kinds with their final phases
 */
export function openFiringStore(outstandingSql: string, restingWords: readonly string[]) {
  /** Nothing runs of what it has started. */
  const atRest = (words: string) => `(o.id is null or o.job_id is not distinct from o.finished_job_id
    and o.kind || ' ' || o.phase = any(${words}::text[]) and not (${outstandingSql}))`
  const OPEN_SCHEDULES = statement({
    text: `select id, (select project_id from object o where o.id = open.id) as "projectId" from (
      select f.schedule_id as id, min(f.at) as at from firing f left join object o on o.id = f.started_id
      where (f.outcome in ('PENDING', 'QUEUED') or f.outcome = 'FIRED' and f.ended_at is null)
        and case f.outcome
          when 'PENDING' then true
          when 'FIRED' then ${atRest('$1')}
          else not exists (
            select from firing r where r.schedule_id = f.schedule_id and r.outcome = 'FIRED' and r.ended_at is null)
        end
      group by f.schedule_id
      union all ${OPEN_BACKFILLS}) open group by id order by min(at) limit 1000`,
    params: [array(text)],
    row: { id: required(uuid), projectId: required(uuid) },
  })
  // Firings that wait come first, and then those that have ended, so that none is overlooked however many run.
  const OPEN_FIRINGS = statement({
    text: `select s.id as key, f.* from unnest($1::uuid[]) as s(id) cross join lateral (
        select ${COLUMNS}, o.kind, o.phase,
          coalesce(o.job_id is not distinct from o.finished_job_id and not (${outstandingSql}), false) as finished,
          row_number() over (order by f.outcome = 'FIRED', not ${atRest('$2')}, f.due, f.id) as place
        from firing f left join object o on o.id = f.started_id
        where f.schedule_id = s.id and (f.outcome in ('PENDING', 'QUEUED') or f.outcome = 'FIRED' and f.ended_at is null)
        order by place limit $3) f
      order by f.place`,
    params: [array(uuid), array(text), bigint],
    row: {
      key: required(uuid),
      ...ROW,
      kind: nullable(table.objectKind),
      phase: nullable(table.phase),
      finished: boolean,
      place: bigint,
    },
  })
  return {
    /** Schedules with a new firing, or with a root that has ended; the oldest first. */
    openSchedules: async (client: Client) => (await OPEN_SCHEDULES.query(client, [restingWords])).rows,
    /**
     * The first firings of each schedule that wait, then those whose roots have ended, then those whose roots run, each
     * with its root.
     */
    async openFirings(client: Client, schedules: readonly string[]) {
      const { rows } = await OPEN_FIRINGS.query(client, [schedules, restingWords, MAX_OPEN])
      return byKey(schedules, rows, (firing) => firing)
    },
  }
}
export type FiringStore = ReturnType<typeof openFiringStore>
type OpenFirings = Awaited<ReturnType<FiringStore['openFirings']>>
export type OpenFiring = NonNullable<ReturnType<OpenFirings['get']>>[number]

const NEXT_WAITING = statement({
  name: 'next-waiting-firings',
  text: `select ${COLUMNS} from firing f where f.backfill_id = $1 and f.outcome = 'WAITING' order by f.id limit $2`,
  params: [uuid, bigint],
  row: ROW,
})
/** The oldest firings of a backfill that are still to come. */
export const nextWaiting = async (client: Client, backfillId: string, count: number): Promise<readonly FiringRow[]> =>
  (await NEXT_WAITING.query(client, [backfillId, count])).rows

const DECIDE = statement({
  name: 'decide-firing',
  text: `update firing set outcome = $2, reason = $3, started_id = $4
    where id = $1 and outcome in ('PENDING', 'QUEUED', 'WAITING') returning id`,
  params: [uuid, text, nullable(text), nullable(uuid)],
  row: { id: uuid },
})
/** False: it is decided already. */
export async function decideFiring(
  client: Client,
  id: string,
  {
    outcome,
    reason,
    startedId,
  }: { readonly outcome: Outcome; readonly reason: string | null; readonly startedId: string | null },
): Promise<boolean> {
  const { rows } = await DECIDE.query(client, [id, outcome, reason, startedId])
  return rows.length > 0
}

const END = statement({
  name: 'end-firings',
  text: 'update firing set ended_at = $2 where id = any($1::uuid[]) and ended_at is null',
  params: [array(uuid), timestamptz],
})
export async function endFirings(client: Client, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length > 0) await END.query(client, [ids, now])
}

const PREVIOUS = statement({
  name: 'previous-firings',
  text: `select s.id, p.due from unnest($1::uuid[], $2::timestamptz[]) as s(id, due) cross join lateral (
      select due from firing where schedule_id = s.id and outcome = 'FIRED' and due < s.due order by due desc limit 1) p`,
  params: [array(uuid), array(timestamptz)],
  row: { id: required(uuid), due: timestamptz },
})
/** The last times before these that have fired, by schedule. */
export async function previousFirings(
  client: Client,
  firings: readonly Pick<FiringRow, 'scheduleId' | 'due'>[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await PREVIOUS.query(client, [
    firings.map(({ scheduleId }) => scheduleId),
    firings.map(({ due }) => due),
  ])
  return new Map(rows.map(({ id, due }) => [id, due]))
}
