import type { ObjectKind } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import {
  array,
  bigint,
  boolean,
  integer,
  json,
  nullable,
  required,
  text,
  textOf,
  timestamptz,
  uuid,
} from '../../../store/column-types.ts'
import { detailsTable } from '../../../store/columns.ts'
import { type FinishedRule, matching, type ObjectQuery } from '../../../store/loaders/find-objects.ts'
import { keyedDetails, keysOf } from '../../../store/loaders/keyed.ts'
import { byKey, direction, type Window } from '../../../store/loaders/window.ts'
import { type StatementRow, statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { DetailsTable, Family } from '../../family.ts'
import type { Editor } from '../../on-behalf.ts'
import { type BulkCounts, type BulkOutcome, type BulkSpec, MAX_TARGETS, NO_COUNTS } from '../rules/bulk.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    freezeTargets: NewTargets
  }
}

/**
 * Bulk operations. Their targets are rows from the start. The outcome of one that is asked is written in the transaction
 * that changes the object, so each is asked with effect once, whatever dies.
 */

export interface BulkDetails {
  readonly editor: Editor | null
  readonly endedAt: Date | null
}
const NEW_BULK: BulkDetails = { editor: null, endedAt: null }
export const bulkTables: readonly DetailsTable[] = [
  detailsTable('bulk_operation', ['BULK_OPERATION'], table.bulkOperation, NEW_BULK),
]
export const loadBulk = keyedDetails(
  'bulk_operation',
  { ...table.bulkOperation, editor: nullable(json<Editor>()) },
  keysOf(NEW_BULK),
)

/** The objects of an operation: those that match when it is created, or those that it names. */
export type Selected =
  | { readonly query: ObjectQuery; readonly rule: FinishedRule }
  | { readonly ids: readonly string[] }

/** Kinds, phases and counts of what an operation would ask; no more than its bound and one more. */
export async function countSelected(
  client: Client,
  selected: Selected,
  projectId: string,
): Promise<readonly { readonly kind: string; readonly phase: string; readonly count: number }[]> {
  const { from, values } = found(selected, projectId)
  const { rows } = await client.query<{ kind: string; phase: string; count: number }>({
    text: `select kind::text, phase::text, count(*)::int as count from (
        select o.kind, o.phase from ${from} limit ${MAX_TARGETS + 1}) o group by 1, 2 order by 1, 2`,
    values: [...values],
  })
  return rows
}
/** Ids of the first objects. */
export async function sampleOf(client: Client, selected: Selected, projectId: string, count: number) {
  const { from, values } = found(selected, projectId)
  const { rows } = await client.query<{ id: string }>({
    text: `select o.id from ${from} order by o.id limit ${count}`,
    values: [...values],
  })
  return rows.map(({ id }) => id)
}
function found(selected: Selected, projectId: string): { readonly from: string; readonly values: readonly unknown[] } {
  if ('ids' in selected)
    return { from: 'object o where o.id = any($1::uuid[]) and o.project_id = $2', values: [selected.ids, projectId] }
  const { text: where, values } = matching(selected.query, selected.rule)
  return { from: `object o where ${where} and o.project_id = $${values.length + 1}`, values: [...values, projectId] }
}

const FREEZE_IDS = statement({
  text: `insert into bulk_target (operation_id, target_id, kind, name, outcome, at)
    select $1, t.id, o.kind, o.name, case when o.id is null then 'GONE' else 'WAITING' end, case when o.id is null then $4::timestamptz end
    from unnest($3::uuid[]) as t(id) left join object o on o.id = t.id and o.project_id = $2`,
  params: [uuid, uuid, array(uuid), timestamptz],
})

export interface NewTargets {
  readonly operationId: string
  readonly projectId: string
  readonly selected: Selected
}
export const bulkEffects: Family['effects'] = {
  /** In one statement, so that all targets are of one moment. */
  async freezeTargets(client, _root, { operationId, projectId, selected }, now) {
    if ('ids' in selected) {
      await FREEZE_IDS.query(client, [operationId, projectId, selected.ids, now])
      return []
    }
    const { from, values } = found(selected, projectId)
    await client.query({
      text: `insert into bulk_target (operation_id, target_id, kind, name, outcome)
        select $${values.length + 1}::uuid, o.id, o.kind, o.name, 'WAITING' from ${from} order by o.id limit ${MAX_TARGETS}`,
      values: [...values, operationId],
    })
    return []
  },
}

const OPEN = statement({
  name: 'open-bulk',
  text: `select o.id, o.name, o.phase, o.project_id as "projectId", p.name as "projectName", s.spec, b.editor
    from bulk_operation b join object o on o.id = b.object_id join object_spec s on s.object_id = o.id
    join project p on p.id = o.project_id where b.ended_at is null order by o.id limit 100`,
  params: [],
  row: {
    id: table.object.id,
    name: table.object.name,
    phase: table.object.phase,
    projectId: table.object.projectId,
    projectName: table.project.name,
    spec: json<BulkSpec>(),
    editor: nullable(json<Editor>()),
  },
})
export type OpenOperation = StatementRow<typeof OPEN>
/** The operations that still ask, the oldest first. */
export const openOperations = async (client: Client): Promise<readonly OpenOperation[]> =>
  (await OPEN.query(client, [])).rows

const LOCK = statement({
  name: 'lock-bulk-operation',
  text: `select pg_try_advisory_xact_lock(hashtextextended('bulk operation ' || $1, 4)) as locked`,
  params: [text],
  row: { locked: boolean },
})
/** Locks the asking of an operation until the transaction ends. False: another process asks. */
export const lockOperation = async (client: Client, id: string): Promise<boolean> =>
  (await LOCK.query(client, [id])).rows[0]?.locked === true

const NEXT = statement({
  name: 'next-bulk-targets',
  text: `select t.target_id as id, o.kind
    from bulk_target t left join object o on o.id = t.target_id
    where t.operation_id = $1 and t.outcome = 'WAITING' order by t.target_id
    limit case when $3::integer is null then $2::bigint else greatest(0, least($2, $3 - (
      select count(*) from bulk_target r where r.operation_id = $1 and r.at > clock_timestamp() - interval '1 second'))) end`,
  params: [uuid, bigint, nullable(integer)],
  row: { id: required(uuid), kind: nullable(table.objectKind) },
})
export type WaitingTarget = StatementRow<typeof NEXT>
/** The next targets to ask, as many as the rate allows now; one without a kind is gone. */
export const nextTargets = async (
  client: Client,
  operationId: string,
  { most, ratePerSecond }: { readonly most: number; readonly ratePerSecond: number | null },
): Promise<readonly WaitingTarget[]> => (await NEXT.query(client, [operationId, most, ratePerSecond])).rows

export interface Decision {
  readonly targetId: string
  readonly outcome: BulkOutcome
  readonly code: string | null
  readonly message: string | null
}
const DONE = statement({
  name: 'bulk-target-done',
  text: `update bulk_target set outcome = 'DONE', caused_id = $3, at = clock_timestamp()
    where operation_id = $1 and target_id = $2 and outcome = 'WAITING' returning target_id as id`,
  params: [uuid, uuid, nullable(uuid)],
  row: { id: uuid },
})
/** False: it is decided already. Part of the transaction that changes the object. */
export const targetDone = async (
  client: Client,
  operationId: string,
  targetId: string,
  causedId: string | null,
): Promise<boolean> => (await DONE.query(client, [operationId, targetId, causedId])).rows.length > 0

const DECIDE = statement({
  name: 'decide-bulk-targets',
  text: `update bulk_target t set outcome = d.outcome, code = d.code, message = d.message, at = clock_timestamp()
    from unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) as d(id, outcome, code, message)
    where t.operation_id = $1 and t.target_id = d.id and t.outcome = 'WAITING'`,
  params: [uuid, array(uuid), array(text), array(nullable(text)), array(nullable(text))],
})
/** Decides those that were not changed. */
export async function decideTargets(client: Client, operationId: string, all: readonly Decision[]): Promise<void> {
  if (all.length === 0) return
  await DECIDE.query(client, [
    operationId,
    all.map(({ targetId }) => targetId),
    all.map(({ outcome }) => outcome),
    all.map(({ code }) => code),
    all.map(({ message }) => message),
  ])
}

const CANCEL = statement({
  text: `update bulk_target set outcome = 'CANCELLED', at = clock_timestamp() where operation_id = $1 and outcome = 'WAITING'
    returning target_id as id`,
  params: [uuid],
  row: { id: uuid },
})
/** Leaves out what was not asked yet; answers how many. Waits for those that are being asked. */
export const cancelWaiting = async (client: Client, operationId: string): Promise<number> =>
  (await CANCEL.query(client, [operationId])).rows.length

const COUNTS = statement({
  name: 'bulk-counts',
  text: `select operation_id as key, outcome, count(*) as count from bulk_target where operation_id = any($1::uuid[]) group by 1, 2`,
  params: [array(uuid)],
  row: { key: required(uuid), outcome: textOf<BulkOutcome>(), count: bigint },
})
export async function countTargets(
  client: Client,
  bulkIds: readonly string[],
): Promise<ReadonlyMap<string, BulkCounts>> {
  const { rows } = await COUNTS.query(client, [bulkIds])
  const counts = byKey(bulkIds, rows, ({ outcome, count }) => [outcome, count] as const)
  return new Map([...counts].map(([id, found]) => [id, { ...NO_COUNTS, ...Object.fromEntries(found) }]))
}

const COLUMNS = `t.target_id as "targetId", t.kind, t.name, t.outcome, t.code, t.message, t.caused_id as "causedId", t.at`
const page = (order: 'asc' | 'desc') =>
  statement({
    text: `select s.id as key, t.* from unnest($1::uuid[]) as s(id) cross join lateral (
        select ${COLUMNS} from bulk_target t where t.operation_id = s.id
          and ($2::text[] is null or t.outcome = any($2))
          and ($3::uuid is null or t.target_id > $3) and ($4::uuid is null or t.target_id < $4)
        order by t.target_id ${order} limit $5) t
      order by t."targetId"`,
    params: [array(uuid), nullable(array(text)), nullable(uuid), nullable(uuid), bigint],
    row: {
      key: required(uuid),
      targetId: table.bulkTarget.targetId,
      kind: nullable(textOf<ObjectKind>()),
      name: table.bulkTarget.name,
      outcome: textOf<BulkOutcome>(),
      code: table.bulkTarget.code,
      message: table.bulkTarget.message,
      causedId: table.bulkTarget.causedId,
      at: table.bulkTarget.at,
    },
  })
const PAGES = { asc: page('asc'), desc: page('desc') }
export type TargetRow = Omit<StatementRow<typeof PAGES.asc>, 'key'>
export async function loadTargets(
  client: Client,
  bulkIds: readonly string[],
  outcomes: readonly BulkOutcome[] | null,
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly TargetRow[]>> {
  const { after, before, limit } = window
  const { rows } = await PAGES[direction(window)].query(client, [bulkIds, outcomes, after, before, limit])
  return byKey(bulkIds, rows, ({ key: _, ...target }) => target)
}
