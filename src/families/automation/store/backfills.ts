import type { Client } from '../../../store/client.ts'
import {
  array,
  bigint,
  boolean,
  nullable,
  required,
  text,
  textOf,
  timestamptz,
  uuid,
} from '../../../store/column-types.ts'
import { heldSql } from '../../../store/holds.ts'
import { byKey, direction, type Window } from '../../../store/loaders/window.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { Overlap } from '../rules/spec.ts'
import { oldestKept } from './kept.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    writeBackfill: NewBackfill
  }
}

/**
 * Backfills. All their times are firings from the start, so a backfill is what its firings say: those that are WAITING are
 * still to come, and it ends when nothing of it waits or runs, or somebody cancels it.
 */

/** As schedules are decided about: all that overlap is what the schedule has started, by time, by hand or by backfill. */
export type BackfillOverlap = Extract<Overlap, 'QUEUE' | 'ALLOW'>

export interface BackfillRow {
  readonly id: string
  readonly scheduleId: string
  readonly first: Date
  readonly last: Date
  readonly overlap: BackfillOverlap
  readonly refire: boolean
  readonly by: string
  readonly at: Date
  readonly cancelledBy: string | null
  readonly endedAt: Date | null
}
export type NewBackfill = Pick<BackfillRow, 'id' | 'scheduleId' | 'first' | 'last' | 'overlap' | 'refire' | 'by'> & {
  readonly firings: readonly { readonly id: string; readonly due: Date }[]
}

const WRITE_BACKFILL = statement({
  text: `insert into backfill (id, schedule_id, first, last, overlap, refire, by, at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
  params: [uuid, uuid, timestamptz, timestamptz, text, boolean, text, timestamptz],
})
const WRITE_TIMES = statement({
  text: `insert into firing (id, schedule_id, backfill_id, cause, due, count, at, outcome, reason)
    select id, $2, $1::uuid, $1::uuid::text, due, 1, $6,
      case when has_fired then 'SKIPPED' else 'WAITING' end, case when has_fired then 'HAS_FIRED' end
    from (
      select t.id, t.due, not $3 and exists (
        select from firing f where f.schedule_id = $2 and f.due = t.due and f.outcome in ('PENDING', 'QUEUED', 'FIRED')
      ) as has_fired
      from unnest($4::uuid[], $5::timestamptz[]) as t(id, due)) t`,
  params: [uuid, uuid, boolean, array(uuid), array(timestamptz), timestamptz],
})
/** Backfills that are kept for each schedule, with their firings. */
const KEPT = 100
// An earlier one stays as long as only its firings say that a time has fired, or that something runs.
const PRUNE = statement({
  text: `delete from backfill b where b.id in (
      select id from backfill where schedule_id = $1 and ended_at is not null order by id desc offset $2)
    and not exists (select from firing f where f.backfill_id = b.id and f.outcome = 'FIRED'
      and (f.ended_at is null or $3::timestamptz is null or f.due >= $3))`,
  params: [uuid, bigint, nullable(timestamptz)],
})
export async function writeBackfill(
  client: Client,
  _root: unknown,
  { id, scheduleId, first, last, overlap, refire, by, firings }: NewBackfill,
  now: Date,
): Promise<readonly never[]> {
  await WRITE_BACKFILL.query(client, [id, scheduleId, first, last, overlap, refire, by, now])
  const [ids, dues] = [firings.map((one) => one.id), firings.map(({ due }) => due)]
  await WRITE_TIMES.query(client, [id, scheduleId, refire, ids, dues, now])
  await PRUNE.query(client, [scheduleId, KEPT, await oldestKept(client, scheduleId)])
  return []
}

const COLUMNS = `b.id, b.schedule_id as "scheduleId", b.first, b.last, b.overlap, b.refire, b.by, b.at,
  b.cancelled_by as "cancelledBy", b.ended_at as "endedAt"`
const ROW = { ...table.backfill, overlap: textOf<BackfillOverlap>() }

const page = (order: 'asc' | 'desc') =>
  statement({
    text: `select s.id as key, b.* from unnest($1::uuid[]) as s(id) cross join lateral (
        select ${COLUMNS} from backfill b where b.schedule_id = s.id
          and ($2::uuid is null or b.id < $2) and ($3::uuid is null or b.id > $3)
        order by b.id ${order} limit $4) b
      order by b.id desc`,
    params: [array(uuid), nullable(uuid), nullable(uuid), bigint],
    row: { key: required(uuid), ...ROW },
  })
const PAGE = { asc: page('desc'), desc: page('asc') }
export async function loadBackfills(
  client: Client,
  schedules: readonly string[],
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly BackfillRow[]>> {
  const { after, before, limit } = window
  const { rows } = await PAGE[direction(window)].query(client, [schedules, after, before, limit])
  return byKey(schedules, rows, ({ key: _, ...backfill }) => backfill)
}
const COUNT = statement({
  text: 'select schedule_id as id, count(*) as count from backfill where schedule_id = any($1::uuid[]) group by 1',
  params: [array(uuid)],
  row: { id: uuid, count: bigint },
})
export async function countBackfills(
  client: Client,
  schedules: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT.query(client, [schedules])
  return new Map([...schedules.map((id) => [id, 0] as const), ...rows.map(({ id, count }) => [id, count] as const)])
}

const PROGRESS = statement({
  text: `select backfill_id as id, count(*) as times, count(*) filter (where outcome = 'WAITING') as waiting,
      count(*) filter (where outcome = 'FIRED') as fired,
      count(*) filter (where outcome = 'FIRED' and ended_at is null) as running,
      count(*) filter (where outcome = 'SKIPPED') as skipped,
      count(*) filter (where outcome in ('REFUSED', 'FORBIDDEN')) as refused
    from firing where backfill_id = any($1::uuid[]) group by 1`,
  params: [array(uuid)],
  row: {
    id: required(uuid),
    times: bigint,
    waiting: bigint,
    fired: bigint,
    running: bigint,
    skipped: bigint,
    refused: bigint,
  },
})
export async function loadProgress(client: Client, backfills: readonly string[]) {
  const { rows } = await PROGRESS.query(client, [backfills])
  return new Map(rows.map((row) => [row.id, row]))
}

const OPEN = `f.outcome in ('PENDING', 'QUEUED') or f.outcome = 'FIRED' and f.ended_at is null`
/** Schedules whose backfill has something to do, with the time since which it has: part of the search for firings. */
export const OPEN_BACKFILLS = `select b.schedule_id, b.at from backfill b join object s on s.id = b.schedule_id
  where b.ended_at is null and not ${heldSql('s.project_id')} and case
    when b.overlap = 'QUEUE' then not exists (select from firing f where f.schedule_id = b.schedule_id and (${OPEN}))
    when exists (select from firing w where w.backfill_id = b.id and w.outcome = 'WAITING') then not exists (
      select from firing f where f.schedule_id = b.schedule_id and f.outcome in ('PENDING', 'QUEUED'))
    else not exists (select from firing f where f.schedule_id = b.schedule_id and f.backfill_id = b.id and (${OPEN}))
  end`

const READ_OPEN = statement({
  text: `select ${COLUMNS} from backfill b where b.schedule_id = any($1::uuid[]) and b.ended_at is null`,
  params: [array(uuid)],
  row: ROW,
})
export const openBackfills = async (client: Client, schedules: readonly string[]): Promise<readonly BackfillRow[]> =>
  (await READ_OPEN.query(client, [schedules])).rows
export const openBackfill = async (client: Client, scheduleId: string): Promise<BackfillRow | null> =>
  (await openBackfills(client, [scheduleId]))[0] ?? null
const END = statement({
  text: `update backfill b set ended_at = $2 where b.id = $1 and b.ended_at is null
    and not exists (select from firing w where w.backfill_id = b.id and w.outcome = 'WAITING')
    and not exists (select from firing f where f.schedule_id = b.schedule_id and f.backfill_id = b.id and (${OPEN}))`,
  params: [uuid, timestamptz],
})
/** It ends, if nothing of it waits or runs. */
export async function endBackfill(client: Client, id: string, now: Date): Promise<void> {
  await END.query(client, [id, now])
}

const CANCEL = statement({
  text: `update backfill set cancelled_by = $2, ended_at = $3 where id = $1 and ended_at is null`,
  params: [uuid, text, timestamptz],
})
const SKIP_WAITING = statement({
  text: `update firing set outcome = 'SKIPPED', reason = 'CANCELLED' where backfill_id = $1 and outcome = 'WAITING' returning id`,
  params: [uuid],
  row: { id: uuid },
})
/** Ends it, and skips what waits; returns how many. */
export async function endCancelled(client: Client, id: string, by: string, now: Date): Promise<number> {
  await CANCEL.query(client, [id, by, now])
  return (await SKIP_WAITING.query(client, [id])).rows.length
}
