import type { Client } from '../../../store/client.ts'
import {
  array,
  bigint,
  boolean,
  integer,
  json,
  jsonb,
  nullable,
  text,
  textOf,
  timestamptz,
  uuid,
} from '../../../store/column-types.ts'
import { direction, inOrder, type Window } from '../../../store/loaders/window.ts'
import { projectRecords, type RecordOf } from '../../../store/project-records.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { statementTime } from '../../../store/time.ts'
import type { LimitStrategy } from '../rules/normalise-limit.ts'

/** Limits, and their keys and tickets as people see them. */

const { description, max, maxPerKey, rateCount, rateMs, debounceMs, isShared } = table.flowLimit
/** A pause of a limit, with its time as JSON has it. */
export interface LimitPause {
  readonly at: string
  /** Name of the principal. */
  readonly by: string
  readonly reason: string | null
}
export const limitRecords = projectRecords({
  table: 'flow_limit',
  columns: {
    ...{ description, max, maxPerKey, rateCount, rateMs, debounceMs, isShared },
    strategy: textOf<LimitStrategy>(),
    weights: json<Readonly<Record<string, number>>>('jsonb'),
  },
  derived: { pause: ['r.pause', nullable(json<LimitPause>('jsonb'))] },
})
export type LimitRow = RecordOf<typeof limitRecords>

const SET_PAUSE = statement({
  name: 'pause-limit',
  text: 'update flow_limit set pause = $2 where id = $1',
  params: [uuid, nullable(jsonb)],
})
/** @param pause null: it is resumed */
export async function writePause(client: Client, id: string, pause: LimitPause | null): Promise<void> {
  await SET_PAUSE.query(client, [id, pause && JSON.stringify(pause)])
}

/** Bounds of a key instead of those of its limit. */
export interface OverrideRow {
  readonly limitId: string
  readonly key: string
  /** Null, as the rate: that of the limit. */
  readonly maxPerKey: number | null
  readonly rateCount: number | null
  readonly rateMs: number | null
  readonly until: Date
  /** Name of the principal. */
  readonly by: string
}
const override = table.limitOverride
const SET_OVERRIDE = statement({
  name: 'write-limit-override',
  text: `insert into limit_override (limit_id, key, max_per_key, rate_count, rate_ms, until, by) values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (limit_id, key) do update set max_per_key = excluded.max_per_key, rate_count = excluded.rate_count,
      rate_ms = excluded.rate_ms, until = excluded.until, by = excluded.by`,
  params: [uuid, text, nullable(integer), nullable(integer), nullable(integer), timestamptz, text],
})
export async function writeOverride(client: Client, one: OverrideRow): Promise<void> {
  const { limitId, key, rateCount, rateMs, until, by } = one
  await SET_OVERRIDE.query(client, [limitId, key, one.maxPerKey, rateCount, rateMs, until, by])
}
const END_OVERRIDE = statement({
  name: 'end-limit-override',
  text: 'delete from limit_override where limit_id = $1 and key = $2',
  params: [uuid, text],
})
export async function endOverride(client: Client, limitId: string, key: string): Promise<void> {
  await END_OVERRIDE.query(client, [limitId, key])
}
const OVERRIDES = statement({
  text: `select limit_id as "limitId", key, max_per_key as "maxPerKey", rate_count as "rateCount", rate_ms as "rateMs", until, by
    from limit_override where limit_id = any($1::uuid[]) and until > ${statementTime('$2')} order by key`,
  params: [array(uuid), nullable(timestamptz)],
  row: override,
})
/** The overrides of limits, except those that have ended. */
export async function loadOverrides(
  client: Client,
  ids: readonly string[],
  time: Date | null,
): Promise<ReadonlyMap<string, readonly OverrideRow[]>> {
  const { rows } = await OVERRIDES.query(client, [ids, time])
  return Map.groupBy(rows, ({ limitId }) => limitId)
}
const COUNT_OVERRIDES = statement({
  name: 'count-limit-overrides',
  text: 'select count(*)::integer as count from limit_override where limit_id = $1 and key <> $2 and until > $3',
  params: [uuid, text, timestamptz],
  row: { count: integer },
})
/** The number of overrides of other keys. */
export async function countOverrides(client: Client, limitId: string, key: string, now: Date): Promise<number> {
  return (await COUNT_OVERRIDES.query(client, [limitId, key, now])).rows[0]?.count ?? 0
}

/** A key that somebody holds or waits for. */
export interface LimitKeyRow {
  readonly limitId: string
  readonly key: string
  readonly running: number
  readonly waiting: number
}

const COUNTS = `count(granted_at)::integer as running, (count(*) - count(granted_at))::integer as waiting`

const keyPage = (order: 'asc' | 'desc') =>
  statement({
    text: `select i.id as "limitId", k.key, k.running, k.waiting
      from unnest($1::uuid[]) i(id) cross join lateral (
        select key, ${COUNTS} from limit_ticket where limit_id = i.id
          and ($2::text is null or key > $2) and ($3::text is null or key < $3)
        group by key order by key ${order} limit $4
      ) k order by k.key ${order}`,
    params: [array(uuid), nullable(text), nullable(text), bigint],
    row: { limitId: uuid, key: table.limitTicket.key, running: integer, waiting: integer },
  })
const KEY_PAGE = { asc: keyPage('asc'), desc: keyPage('desc') }

/** A page of the keys of each of these limits, in their order. */
export async function loadKeys(
  client: Client,
  ids: readonly string[],
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly LimitKeyRow[]>> {
  const { after, before, limit } = window
  const { rows } = await KEY_PAGE[direction(window)].query(client, [ids, after, before, limit])
  return Map.groupBy(inOrder(rows, window), ({ limitId }) => limitId)
}

const COUNT_KEYS = statement({
  text: `select limit_id as key, count(distinct key)::integer as count, ${COUNTS}
    from limit_ticket where limit_id = any($1::uuid[]) group by limit_id`,
  params: [array(uuid)],
  row: { key: uuid, count: integer, running: integer, waiting: integer },
})

export interface LimitCounts {
  /** Number of keys. */
  readonly count: number
  readonly running: number
  readonly waiting: number
}
/** A limit that nobody has asked for has no entry. */
export async function countTickets(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, LimitCounts>> {
  const { rows } = await COUNT_KEYS.query(client, [ids])
  return new Map(rows.map(({ key, ...counts }) => [key, counts]))
}

/** A ticket of a limit. */
export interface TicketRow {
  readonly objectId: string
  readonly key: string
  readonly seq: number
  readonly priority: number
  readonly askedAt: Date
  readonly grantedAt: Date | null
  /** From 1, among those of its kind and key that wait; null: it is held. */
  readonly position: number | null
}
/** The tickets of a limit that are held, or wait. */
export interface TicketFilter {
  readonly limitId: string
  /** Null: all keys. */
  readonly key: string | null
  readonly isHeld: boolean
}

const FILTER = `t.limit_id = $1 and ($2::text is null or t.key = $2) and (t.granted_at is not null) = $3`
const ticketPage = (order: 'asc' | 'desc') =>
  statement({
    text: `select t.object_id as "objectId", t.key, t.seq, t.priority, t.asked_at as "askedAt", t.granted_at as "grantedAt",
        case when t.granted_at is null then (select count(*)::integer from limit_ticket b where b.kind = t.kind
          and b.limit_id = t.limit_id and b.key = t.key and b.granted_at is null
          and (b.priority > t.priority or b.priority = t.priority and b.seq <= t.seq)) end as position
      from limit_ticket t
      where ${FILTER} and ($4::bigint is null or t.seq > $4) and ($5::bigint is null or t.seq < $5)
      order by t.seq ${order} limit $6`,
    params: [uuid, nullable(text), boolean, nullable(bigint), nullable(bigint), bigint],
    row: {
      ...{
        objectId: table.limitTicket.objectId,
        key: table.limitTicket.key,
        seq: table.limitTicket.seq,
        priority: integer,
      },
      ...{ askedAt: table.limitTicket.askedAt, grantedAt: table.limitTicket.grantedAt, position: nullable(integer) },
    },
  })
const TICKET_PAGE = { asc: ticketPage('asc'), desc: ticketPage('desc') }

/** A page of them in the order of their arrival. */
export async function listTickets(
  client: Client,
  { limitId, key, isHeld }: TicketFilter,
  window: Window<number>,
): Promise<readonly TicketRow[]> {
  const { after, before, limit } = window
  const { rows } = await TICKET_PAGE[direction(window)].query(client, [limitId, key, isHeld, after, before, limit])
  return inOrder(rows, window)
}

const COUNT_PAGED = statement({
  text: `select count(*)::integer as count from limit_ticket t where ${FILTER}`,
  params: [uuid, nullable(text), boolean],
  row: { count: integer },
})

export async function countFiltered(client: Client, { limitId, key, isHeld }: TicketFilter): Promise<number> {
  const { rows } = await COUNT_PAGED.query(client, [limitId, key, isHeld])
  return rows[0]?.count ?? 0
}
