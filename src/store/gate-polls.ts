import type { Client } from './client.ts'
import { array, bytea, integer, json, jsonb, nullable, required, text, timestamptz, uuid } from './column-types.ts'
import { heldSql } from './holds.ts'
import { type StatementRow, statement } from './statement.ts'
import * as table from './tables.ts'

/**
 * Addresses that open gates. A row is written in the transaction that closes the gate, and deleted in the one that opens it. A gate that
 * is closed anew has a row with another id, so an answer to an earlier question opens nothing.
 */

/** A process that asks, and says nothing of it, has ended. */
const LEASE_MS = 15_000
/** Addresses that are asked at a time, or were within the last second: of the instance, and of a host. */
const AT_ONCE = 64
const OF_A_HOST = 4
/** After which an address that was asked counts no longer, in milliseconds. */
const COUNTED_MS = 1_000

/** How an address is asked. Its family knows the rest. */
interface Asked {
  readonly url: string
}

const WRITE = statement({
  name: 'write-gate-poll',
  text: `insert into gate_poll (object_id, root_id, project_id, host, http, next_at) values ($1, $2, $3, $4, $5, $6)
    on conflict (object_id) do update set id = excluded.id, host = excluded.host, http = excluded.http, next_at = excluded.next_at,
      failures = 0, answer = null, answered_at = null`,
  params: [uuid, uuid, uuid, text, jsonb, timestamptz],
})
/** The gate is closed, and its address is asked at once. */
export async function writeGatePoll(
  client: Client,
  poll: { readonly objectId: string; readonly rootId: string; readonly projectId: string; readonly http: Asked },
  now: Date,
): Promise<void> {
  const { objectId, rootId, projectId, http } = poll
  await WRITE.query(client, [objectId, rootId, projectId, new URL(http.url).host, JSON.stringify(http), now])
}

/** Its object may still wait. One that has been opened or has ended has another phase, or no row. */
const WAITS = `exists (select from object o where o.id = p.object_id and o.phase in ('INIT', 'PENDING'))`
const MAY_ASK = `not exists (select from root_pause r where r.root_id = p.root_id) and not ${heldSql('p.project_id')}`

const NEXT = statement({
  name: 'next-gate-poll',
  text: `select min(p.next_at) as due from gate_poll p where ${MAY_ASK}`,
  row: { due: nullable(timestamptz) },
})
/** When the next address is asked; null: none is to be. */
export const nextGatePoll = async (client: Client): Promise<Date | null> =>
  (await NEXT.query(client, [])).rows[0]?.due ?? null

const FORGET = statement({
  name: 'forget-gate-polls',
  text: `delete from gate_poll p where p.next_at <= $1 and not ${WAITS}`,
  params: [timestamptz],
})
const CLAIM = statement({
  name: 'claim-gate-polls',
  text: `with busy as (
      select host, count(*) as n from gate_poll where busy_until > $1 group by host
    ), due as (
      select p.object_id, p.next_at, coalesce(b.n, 0) + row_number() over (partition by p.host order by p.next_at, p.object_id) as nth
      from gate_poll p left join busy b on b.host = p.host where p.next_at <= $1 and ${WAITS} and ${MAY_ASK}
    ), claimed as (
      update gate_poll p set next_at = $2, busy_until = $2 from (
        select object_id from due where nth <= ${OF_A_HOST} order by next_at
        limit greatest(0, least($3::integer, ${AT_ONCE} - (select coalesce(sum(n), 0) from busy)))
      ) d where p.object_id = d.object_id returning p.*
    )
    select c.object_id as "objectId", c.id, c.root_id as "rootId", c.project_id as "projectId", c.http, c.failures, s.sealed
    from claimed c left join secret s on s.project_id = c.project_id and s.name = c.http ->> 'secret'`,
  params: [timestamptz, timestamptz, integer],
  row: {
    ...{ objectId: uuid, id: uuid, rootId: uuid, projectId: uuid, http: json<object>(), failures: integer },
    sealed: nullable(bytea),
  },
})
/** Claims those that are due, until their lease ends. One process does it at a time, so that bounds hold for all of them together. */
export async function claimGatePolls(client: Client, now: Date, most: number) {
  await FORGET.query(client, [now])
  const leaseUntil = new Date(now.getTime() + LEASE_MS)
  const { rows } = await CLAIM.query(client, [now, leaseUntil, most])
  return rows.map((row) => ({ ...row, askedAt: now, leaseUntil }))
}
export type ClaimedPoll = Awaited<ReturnType<typeof claimGatePolls>>[number]

const NOTE = statement({
  name: 'note-gate-answer',
  text: `update gate_poll set next_at = $4, busy_until = $5, failures = $6, answer = $7, answered_at = $8
    where object_id = $1 and id = $2 and next_at = $3`,
  params: [uuid, uuid, timestamptz, timestamptz, timestamptz, integer, text, timestamptz],
})
/** Writes an answer that does not open the gate. One whose lease has ended, or whose gate was closed anew, is left. */
export async function noteGateAnswer(
  client: Client,
  { objectId, id, leaseUntil, askedAt }: ClaimedPoll,
  said: { readonly answer: string; readonly at: Date; readonly failures: number; readonly nextAt: Date },
): Promise<void> {
  const counted = new Date(askedAt.getTime() + COUNTED_MS)
  await NOTE.query(client, [objectId, id, leaseUntil, said.nextAt, counted, said.failures, said.answer, said.at])
}

const SPEND = statement({
  name: 'spend-gate-poll',
  text: 'delete from gate_poll where object_id = $1 and id = $2 returning object_id as id',
  params: [uuid, uuid],
  row: { id: uuid },
})
/** Ends the questions to an address, whose answer opens the gate. False: the gate was closed anew since, or has ended. */
export const spendGatePoll = async (client: Client, objectId: string, id: string): Promise<boolean> =>
  (await SPEND.query(client, [objectId, id])).rows.length > 0

const SHOWN = statement({
  text: `select object_id as id, answer, answered_at as "answeredAt", next_at as "nextAt" from gate_poll where object_id = any($1::uuid[])`,
  params: [array(uuid)],
  row: {
    id: uuid,
    answer: table.gatePoll.answer,
    answeredAt: table.gatePoll.answeredAt,
    nextAt: required(timestamptz),
  },
})
export type StoredPoll = Omit<StatementRow<typeof SHOWN>, 'id'>
export async function loadGatePolls(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, StoredPoll>> {
  const { rows } = await SHOWN.query(client, [ids])
  return new Map(rows.map(({ id, ...poll }) => [id, poll]))
}

/** SQL of the JSON of a gate, with what is known of its address. */
export const withPoll = (gate: string, objectId: string): string =>
  `${gate} || coalesce((select jsonb_build_object('poll', jsonb_build_object('answer', p.answer, 'answeredAt', p.answered_at,
    'nextAt', p.next_at)) from gate_poll p where p.object_id = ${objectId} and ${gate} ? 'http'), '{}')`
