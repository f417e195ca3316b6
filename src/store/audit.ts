import type {
  AuditCursor,
  AuditEntry,
  AuditedCall,
  AuditFilter,
  AuditOutcome,
  AuditTarget,
  ChainEnd,
  ChainedEvent,
} from '../core/audit.ts'
import type { AuditRow } from '../core/ports/audit.ts'
import type { Client } from './client.ts'
import { array, bigint, bytea, integer, nullable, required, text, timestamptz, uuid } from './column-types.ts'
import { inOrder, type Window } from './loaders/window.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Events of the audit: written once, chained after their commit, and read by their place in the chain. */

const COLUMNS = [
  'principal_id',
  'principal_name',
  'token_id',
  'actor',
  'address',
  'request_id',
  'operation',
  'project_id',
  'project_name',
  'object_id',
  'object_kind',
  'object_name',
  'outcome',
  'code',
  'fields',
  'count',
] as const
const PARAMS = [
  uuid,
  nullable(uuid),
  nullable(text),
  nullable(text),
  nullable(text),
  nullable(text),
  nullable(text),
  text,
  nullable(uuid),
  nullable(text),
  nullable(uuid),
  nullable(text),
  nullable(text),
  text,
  nullable(text),
  array(text),
  integer,
] as const

const valuesOf = (id: string, entry: AuditEntry) =>
  [
    id,
    entry.principalId,
    entry.principalName,
    entry.tokenId,
    entry.actor,
    entry.address,
    entry.requestId,
    entry.operation,
    entry.projectId,
    entry.projectName,
    entry.objectId,
    entry.objectKind,
    entry.objectName,
    entry.outcome,
    entry.code,
    entry.fields,
    entry.count,
  ] as const

const INSERT = statement({
  name: 'audit-insert',
  text: `insert into audit_event (id, ${COLUMNS.join(', ')})
    values (${PARAMS.map((_, i) => `$${i + 1}`).join(', ')})`,
  params: PARAMS,
})

/** Writes an event in the transaction of the change it records. */
export async function insertAudit(client: Client, id: string, entry: AuditEntry): Promise<void> {
  await INSERT.query(client, valuesOf(id, entry))
}

/** The same for a change by a mutation: values of `target` replace those from its arguments. */
export async function recordDone(client: Client, call: AuditedCall, target: Partial<AuditTarget>): Promise<void> {
  call.isWritten = true
  await insertAudit(client, call.nextId(), { ...call.entry, ...target, outcome: 'DONE', code: null, count: 1 })
}

/** The same, with the names of the project and of the object that the target names by their ids. */
export async function recordDoneIn(client: Client, call: AuditedCall, target: Partial<AuditTarget>): Promise<void> {
  call.isWritten = true
  await insertNoted(client, call.nextId(), { ...call.entry, ...target, outcome: 'DONE', code: null, count: 1 })
}

const INSERT_NOTED = statement({
  name: 'audit-insert-noted',
  text: `insert into audit_event (id, ${COLUMNS.join(', ')})
    select $1, $2, $3, $4, $5, $6, $7, $8,
      coalesce($9, o.project_id, p.id), coalesce($10, (select name from project where id = coalesce($9, o.project_id))), $11, $12,
      coalesce($13, o.name), $14, $15, $16, $17
    from (values (1)) one left join object o on o.id = $11 left join project p on p.name = $10
    on conflict (id) do nothing`,
  params: PARAMS,
})

/**
 * Writes an event for a call that changed nothing, unless it is stored already. The database adds the project that its
 * ids and names denote now.
 */
export async function insertNoted(client: Client, id: string, entry: AuditEntry): Promise<void> {
  await INSERT_NOTED.query(client, valuesOf(id, entry))
}

const EVENT = {
  ...table.auditEvent,
  sequence: required(table.auditEvent.sequence),
  hash: required(table.auditEvent.hash),
}
const UNCHAINED_COLUMNS = `id, at, principal_id as "principalId", principal_name as "principalName", token_id as "tokenId", actor,
  address, request_id as "requestId", operation, project_id as "projectId", project_name as "projectName",
  object_id as "objectId", object_kind as "objectKind", object_name as "objectName", outcome, code, fields, count`
const EVENT_COLUMNS = `${UNCHAINED_COLUMNS}, sequence, hash`

const FILTER_PARAMS = [
  nullable(array(uuid)),
  nullable(uuid),
  nullable(text),
  nullable(text),
  nullable(text),
  nullable(uuid),
  nullable(text),
  nullable(timestamptz),
  nullable(timestamptz),
] as const
const MATCHES = `sequence is not null
  and ($1::uuid[] is null or project_id = any($1::uuid[]))
  and ($2::uuid is null or principal_id = $2)
  and ($3::text is null or token_id = $3)
  and ($4::text is null or operation = $4)
  and ($5::text is null or project_name = $5)
  and ($6::uuid is null or object_id = $6)
  and ($7::text is null or outcome = $7)
  and ($8::timestamptz is null or at >= $8)
  and ($9::timestamptz is null or at < $9)`
const filterValues = (filter: AuditFilter) =>
  [
    filter.projects,
    filter.principalId,
    filter.tokenId,
    filter.operation,
    filter.project,
    filter.objectId,
    filter.outcome,
    filter.since,
    filter.until,
  ] as const

const listIn = (order: 'asc' | 'desc') =>
  statement({
    text: `select ${EVENT_COLUMNS} from audit_event where ${MATCHES}
      and sequence < coalesce($10::bigint, 9223372036854775807) and sequence > coalesce($11::bigint, 0)
      order by sequence ${order} limit $12`,
    params: [...FILTER_PARAMS, nullable(bigint), nullable(bigint), bigint],
    row: EVENT,
  })
const NEWEST_FIRST = listIn('desc')
const OLDEST_FIRST = listIn('asc')

const toRow = (row: Omit<AuditRow, 'outcome'> & { readonly outcome: string }): AuditRow => ({
  ...row,
  outcome: row.outcome as AuditOutcome,
})

/** A page of events, the newest first. */
export async function listAudit(
  client: Client,
  filter: AuditFilter,
  window: Window<AuditCursor>,
): Promise<readonly AuditRow[]> {
  const list = window.backward ? OLDEST_FIRST : NEWEST_FIRST
  const bounds = [window.after?.sequence ?? null, window.before?.sequence ?? null, window.limit] as const
  const { rows } = await list.query(client, [...filterValues(filter), ...bounds])
  return inOrder(rows.map(toRow), window)
}

/** Events after one place in the chain, up to another, oldest first. */
export async function auditBetween(
  client: Client,
  filter: AuditFilter,
  { after, through, limit }: { readonly after: number; readonly through: number; readonly limit: number },
): Promise<readonly AuditRow[]> {
  const { rows } = await OLDEST_FIRST.query(client, [...filterValues(filter), through + 1, after, limit])
  return rows.map(toRow)
}

const COUNT = statement({
  text: `select count(*) as count from audit_event where ${MATCHES}`,
  params: FILTER_PARAMS,
  row: { count: bigint },
})
export const countAudit = async (client: Client, filter: AuditFilter): Promise<number> =>
  (await COUNT.query(client, filterValues(filter))).rows[0]?.count ?? 0

const ANCHOR = statement({
  text: 'select sequence, hash from audit_anchor',
  row: { sequence: table.auditAnchor.sequence, hash: table.auditAnchor.hash },
})
const HEAD = statement({
  text: 'select sequence, hash from audit_event where sequence is not null order by sequence desc limit 1',
  row: { sequence: EVENT.sequence, hash: EVENT.hash },
})

const SINCE = statement({
  text: `select at from audit_event where sequence > (select sequence from audit_anchor) order by sequence limit 1`,
  row: { at: EVENT.at },
})
/** When the oldest event of the chain happened; null: it is empty. */
export const auditSince = async (client: Client): Promise<Date | null> =>
  (await SINCE.query(client, [])).rows[0]?.at ?? null

/** The start of the chain: the last event that retention has removed. */
export async function auditAnchor(client: Client): Promise<ChainEnd> {
  const { rows } = await ANCHOR.query(client, [])
  if (!rows[0]) throw new Error('the table audit_anchor is empty')
  return rows[0]
}
/** The last event of the chain, or its anchor. */
export async function auditHead(client: Client): Promise<ChainEnd> {
  const { rows } = await HEAD.query(client, [])
  return rows[0] ?? (await auditAnchor(client))
}

const AT = statement({
  text: 'select sequence, hash from audit_event where sequence = $1',
  params: [bigint],
  row: { sequence: EVENT.sequence, hash: EVENT.hash },
})
/** The event of this sequence; null: it is removed, or does not exist yet. */
export const auditAt = async (client: Client, sequence: number): Promise<ChainEnd | null> =>
  (await AT.query(client, [sequence])).rows[0] ?? null

const { hash: _, sequence: __, ...UNCHAINED } = table.auditEvent
const WAITING = statement({
  text: `select ${UNCHAINED_COLUMNS} from audit_event where sequence is null order by id limit $1`,
  params: [bigint],
  row: UNCHAINED,
})
export type WaitingEvent = Omit<ChainedEvent, 'sequence'>
/** Committed events that have no place in the chain yet, the oldest first. */
export async function waitingAudit(client: Client, limit: number): Promise<readonly WaitingEvent[]> {
  const { rows } = await WAITING.query(client, [limit])
  return rows.map((row) => ({ ...row, outcome: row.outcome as AuditOutcome }))
}

const CHAIN = statement({
  text: `update audit_event e set sequence = c.sequence, hash = c.hash
    from unnest($1::uuid[], $2::bigint[], $3::bytea[]) as c(id, sequence, hash) where e.id = c.id`,
  params: [array(uuid), array(bigint), array(bytea)],
})
/** Gives events their places; each has none yet. */
export async function chainAudit(
  client: Client,
  events: readonly { readonly id: string; readonly sequence: number; readonly hash: Buffer }[],
): Promise<void> {
  await CHAIN.query(client, [
    events.map(({ id }) => id),
    events.map(({ sequence }) => sequence),
    events.map(({ hash }) => hash),
  ])
}

const MOVE_ANCHOR = statement({
  text: `with next as materialized (
    select sequence, hash, at from audit_event where sequence > (select sequence from audit_anchor)
    order by sequence limit $2
  ), last as (
    select sequence, hash from next
    where sequence < coalesce((select min(sequence) from next where at >= $1), 9223372036854775807)
    order by sequence desc limit 1
  )
  update audit_anchor a set sequence = last.sequence, hash = last.hash from last`,
  params: [timestamptz, bigint],
})
/** Advances the start of the chain by at most `limit` events, up to the first that is not older. False: it stays. */
export const moveAnchor = async (client: Client, before: Date, limit: number): Promise<boolean> =>
  (await MOVE_ANCHOR.query(client, [before, limit])).rowCount === 1

const REMOVE = statement({
  text: 'delete from audit_event where sequence <= (select sequence from audit_anchor)',
})
/** Removes the events before the start of the chain. */
export async function removeBeforeAnchor(client: Client): Promise<void> {
  await REMOVE.query(client, [])
}
