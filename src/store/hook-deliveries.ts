import type { DeliveryOutcome } from '../core/hook.ts'
import type { Reach } from '../core/rights.ts'
import type { Client } from './client.ts'
import {
  array,
  bigint,
  boolean,
  bytea,
  integer,
  json,
  nullable,
  text,
  textOf,
  timestamptz,
  uuid,
} from './column-types.ts'
import { byKey, direction, type Window } from './loaders/window.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Deliveries to hooks: what has arrived, and what has become of it. */

export interface DeliveryRow {
  readonly id: string
  readonly hookId: string
  readonly at: Date
  readonly outcome: DeliveryOutcome
  readonly reason: string | null
  readonly deliveryId: string | null
  readonly eventId: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly bodyBytes: number
  readonly secretName: string | null
  readonly hops: number
  readonly replayOf: string | null
}
export interface NewDelivery extends DeliveryRow {
  readonly onceKey: string | null
  readonly body: Buffer | null
}

const DAY_MS = 86_400_000
/** Ids are kept longer than any sender repeats, and longer than bodies. */
const ID_MS = 14 * DAY_MS
const BODY_MS = 3 * DAY_MS
/** A hook keeps so many bytes of bodies, and so many deliveries without an event: those with a spent id, and others. */
const MAX_BODY_BYTES = 64 * 1_024 * 1_024
const MAX_FILTERED = 10_000
const MAX_VAIN = 1_000
/** For descriptions and documents. */
export const KEPT_DELIVERIES = { idDays: 14, bodyDays: 3, bodyMib: 64, filtered: MAX_FILTERED, vain: MAX_VAIN } as const

const SELECTION = `d.id, d.hook_id as "hookId", d.at, d.outcome, d.reason, d.delivery_id as "deliveryId", d.event_id as "eventId",
    d.headers, d.body_bytes as "bodyBytes", d.secret_name as "secretName", d.hops, d.replay_of as "replayOf"`
const { id, hookId, at, reason, deliveryId, eventId, bodyBytes, secretName, hops, replayOf } = table.hookDelivery
const ROW = {
  ...{ id, hookId, at, reason, deliveryId, eventId, bodyBytes, secretName, hops, replayOf },
  ...{ outcome: textOf<DeliveryOutcome>(), headers: json<DeliveryRow['headers']>() },
}

const INSERT = statement({
  name: 'insert-hook-delivery',
  text: `insert into hook_delivery (id, hook_id, at, outcome, reason, delivery_id, once_key, event_id, headers, body, body_bytes,
        secret_name, hops, replay_of)
      select $1::uuid, h.id, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12, $13, $14 from hook h where h.id = $2
      on conflict (hook_id, once_key) where outcome in ('ACCEPTED', 'FILTERED') do nothing returning id`,
  params: [
    ...([uuid, uuid, timestamptz, text, nullable(text), nullable(text), nullable(text), nullable(uuid)] as const),
    ...([table.hookDelivery.headers, nullable(bytea), integer, nullable(text), integer, nullable(uuid)] as const),
  ],
  row: { id: uuid },
})
/** False: one with the same key is there, or the hook is gone. */
export async function insertDelivery(client: Client, delivery: NewDelivery): Promise<boolean> {
  const { rows } = await INSERT.query(client, [
    ...([delivery.id, delivery.hookId, delivery.at, delivery.outcome, delivery.reason, delivery.deliveryId] as const),
    ...([delivery.onceKey, delivery.eventId, JSON.stringify(delivery.headers), delivery.body] as const),
    ...([delivery.bodyBytes, delivery.secretName, delivery.hops, delivery.replayOf] as const),
  ])
  return rows.length > 0
}

const FIND_SPENT = statement({
  name: 'find-spent-delivery',
  text: `select ${SELECTION} from hook_delivery d
      where d.hook_id = $1 and d.once_key = $2 and d.outcome in ('ACCEPTED', 'FILTERED')`,
  params: [uuid, text],
  row: ROW,
})
/** The delivery that has spent the key; null: none has. */
export async function findSpent(client: Client, hook: string, onceKey: string): Promise<DeliveryRow | null> {
  const { rows } = await FIND_SPENT.query(client, [hook, onceKey])
  return rows[0] ?? null
}

const LOAD = statement({
  text: `select ${SELECTION} from hook_delivery d join hook h on h.id = d.hook_id
      where d.id = any($1::uuid[]) and ($2::uuid[] is null or h.project_id = any($2)) and ($3::boolean or h.spec -> 'projects' is null)`,
  params: [array(uuid), nullable(array(uuid)), boolean],
  row: ROW,
})
/** @param reach null: all of them */
export const loadDeliveries = async (
  client: Client,
  ids: readonly string[],
  reach: Reach | null,
): Promise<readonly DeliveryRow[]> =>
  (await LOAD.query(client, [ids, reach?.projects ?? null, reach?.isAdministrator ?? true])).rows

const BODIES = statement({
  text: 'select d.id as key, d.body from hook_delivery d where d.id = any($1::uuid[])',
  params: [array(uuid)],
  row: { key: uuid, body: nullable(bytea) },
})
export async function loadBodies(
  client: Client,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly body: Buffer | null }>> {
  const { rows } = await BODIES.query(client, [ids])
  return new Map(rows.map(({ key, body }) => [key, { body }]))
}

/** The newest first: ids are made in the order of their times. */
const page = (order: 'asc' | 'desc') =>
  statement({
    text: `select s.id as key, d.* from unnest($1::uuid[]) as s(id) cross join lateral (
        select ${SELECTION} from hook_delivery d where d.hook_id = s.id
          and ($2::uuid is null or d.id < $2) and ($3::uuid is null or d.id > $3)
        order by d.id ${order} limit $4) d
      order by d.id desc`,
    params: [array(uuid), nullable(uuid), nullable(uuid), bigint],
    row: { key: uuid, ...ROW },
  })
const PAGE = { asc: page('desc'), desc: page('asc') }
export async function loadDeliveriesOf(
  client: Client,
  hooks: readonly string[],
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly DeliveryRow[]>> {
  const { after, before, limit } = window
  const { rows } = await PAGE[direction(window)].query(client, [hooks, after, before, limit])
  return byKey(hooks, rows, ({ key: _, ...delivery }) => delivery)
}
const COUNT = statement({
  text: 'select hook_id as id, count(*) as count from hook_delivery where hook_id = any($1::uuid[]) group by 1',
  params: [array(uuid)],
  row: { id: uuid, count: bigint },
})
export async function countDeliveriesOf(
  client: Client,
  hooks: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT.query(client, [hooks])
  return new Map([...hooks.map((hook) => [hook, 0] as const), ...rows.map((row) => [row.id, row.count] as const)])
}

/** Rows of one step. */
const STEP = 500
const SWEEPS = [
  statement({
    text: `delete from hook_delivery where id in (select id from hook_delivery where at < $1 order by at limit ${STEP})`,
    params: [timestamptz],
  }),
  statement({
    text: `update hook_delivery set body = null
        where id in (select id from hook_delivery where body is not null and at < $1 limit ${STEP})`,
    params: [timestamptz],
  }),
] as const
const SWEEP_BODIES = statement({
  text: `update hook_delivery set body = null where id in (
        select id from (
          select id, sum(body_bytes) over (partition by hook_id order by id desc) as bytes from hook_delivery where body is not null
        ) kept where bytes > ${MAX_BODY_BYTES} limit ${STEP})`,
})
const sweepBeyond = (max: number, outcomes: string) =>
  statement({
    text: `delete from hook_delivery where id in (
        select id from (
          select id, row_number() over (partition by hook_id order by id desc) as n from hook_delivery where ${outcomes}
        ) vain where n > ${max} limit ${STEP})`,
  })
const SWEEP_VAIN = sweepBeyond(MAX_VAIN, "outcome not in ('ACCEPTED', 'FILTERED')")
const SWEEP_FILTERED = sweepBeyond(MAX_FILTERED, "outcome = 'FILTERED'")

const REMOVE = statement({
  name: 'remove-hook-deliveries',
  text: `delete from hook_delivery where id in (
      select id from hook_delivery where hook_id = $1 and id <= $2 order by id limit ${STEP})`,
  params: [uuid, uuid],
})
/** Removes a step of the deliveries of a hook, up to one. False: none is left. */
export const removeDeliveries = async (client: Client, hook: string, upTo: string): Promise<boolean> =>
  ((await REMOVE.query(client, [hook, upTo])).rowCount ?? 0) >= STEP

/** Removes what is kept for too long, or is too much: old deliveries, then bodies. False: nothing is left. */
export async function sweepDeliveries(client: Client, now: Date): Promise<boolean> {
  const since = (ms: number) => new Date(now.getTime() - ms)
  const done = [
    await SWEEPS[0].query(client, [since(ID_MS)]),
    await SWEEPS[1].query(client, [since(BODY_MS)]),
    await SWEEP_BODIES.query(client, []),
    await SWEEP_VAIN.query(client, []),
    await SWEEP_FILTERED.query(client, []),
  ]
  return done.some(({ rowCount }) => (rowCount ?? 0) >= STEP)
}
