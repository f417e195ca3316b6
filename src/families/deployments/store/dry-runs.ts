import type { PlannedChange } from '../../../core/dry-run.ts'
import { clampLeaseMs } from '../../../core/lease.ts'
import type { Client } from '../../../store/client.ts'
import {
  array,
  bigint,
  boolean,
  bytea,
  float8,
  integer,
  json,
  jsonb,
  nullable,
  required,
  smallintOf,
  text,
  textOf,
  timestamptz,
  uuid,
} from '../../../store/column-types.ts'
import { hashOf, makeFence, type OpenedFence } from '../../../store/fence.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { plusMs, statementTime, timeNow } from '../../../store/time.ts'
import type { ClaimedDryRuns, Family, WantedDryRuns } from '../../family.ts'
import type { DeployedState } from '../rules/dry-run-inputs.ts'
import { DRY_RUN, type DryRunFacts, type StoredState } from '../rules/dry-run-state.ts'
import type { PlanAction } from '../rules/plan.ts'

/** Dry runs and their items: rows of their own, which no phase, no tree and no log knows of. `sweep` removes them. */

export interface NewDryRun {
  readonly id: string
  readonly projectId: string
  /** The name of the root. */
  readonly name: string
  /** Null: a new installation. */
  readonly rootId: string | null
  readonly requestedBy: string
  readonly now: Date
}
export interface NewDryRunItem {
  readonly id: string
  readonly path: readonly string[]
  readonly action: PlanAction
  /** The deploy item; of one that is not there yet, an id of its own, to which nothing at the target belongs. */
  readonly objectId: string
  readonly type: string
  readonly target: string | null
  readonly config: unknown
  /** Why nobody is asked; null: it is offered, or fails. */
  readonly skipped: string | null
  /** Why the run itself would fail before anybody is asked. */
  readonly error: { readonly code: string; readonly message: string } | null
}

const COUNT = statement({
  text: 'select count(*)::int as count from dry_run where project_id = $1',
  params: [uuid],
  row: { count: integer },
})

/** Counts those that are kept. */
export async function countDryRuns(client: Client, projectId: string): Promise<number> {
  const { rows } = await COUNT.query(client, [projectId])
  return rows[0]?.count ?? 0
}

const INSERT = statement({
  text: `insert into dry_run (id, project_id, name, root_id, requested_by, created_at)
    values ($1, $2, $3, $4, $5, ${timeNow('$6')})`,
  params: [uuid, uuid, text, nullable(uuid), text, nullable(timestamptz)],
})
const INSERT_ITEMS = statement({
  text: `insert into dry_run_item (id, dry_run_id, ordinal, path, action, object_id, type, target, config, state, reason,
      error_code, error_message)
    select i.id, $1, i.ordinal, array(select jsonb_array_elements_text(i.path)), i.action, i."objectId", i.type, i.target,
      i.config, case when i.skipped is null and i.error is null then 0 else 2 end, i.skipped,
      i.error ->> 'code', i.error ->> 'message'
    from jsonb_to_recordset($2::text::jsonb) as i(id uuid, ordinal int, path jsonb, action text, "objectId" uuid, type text,
      target text, config jsonb, skipped text, error jsonb)`,
  params: [uuid, text],
})

export async function writeDryRun(
  client: Client,
  { id, projectId, name, rootId, requestedBy }: Omit<NewDryRun, 'now'>,
  items: readonly NewDryRunItem[],
  time: Date | null,
): Promise<void> {
  await INSERT.query(client, [id, projectId, name, rootId, requestedBy, time])
  await INSERT_ITEMS.query(client, [id, JSON.stringify(items.map((item, ordinal) => ({ ...item, ordinal })))])
}

const ms = (amount: number): string => `interval '${amount} milliseconds'`
/** Somebody may take it: it was not there for too long, not too often, and nobody has it. */
const claimable = (time: string) => `(i.attempt < ${DRY_RUN.attempts} and (
  i.state = 0 and d.created_at > ${time} - ${ms(DRY_RUN.offeredMs)}
  or i.state = 1 and i.lease_until <= ${time} and i.lease_until > ${time} - ${ms(DRY_RUN.offeredMs)}
    and d.created_at > ${time} - ${ms(DRY_RUN.wholeMs)}))`

/** The same rule as `takesTarget`. */
const TARGETED = `case when $6::jsonb is null then i.target is null or $2::text[] is null or i.target = any($2)
    else i.target is null and $2 is not null or i.target = any($2)
      or (jsonb_typeof($6::jsonb -> 'within') <> 'array' or $6::jsonb -> 'within' ? i.target) and exists (
        select from target r where r.project_id = d.project_id and r.name = i.target
          and coalesce(r.type = $6::jsonb ->> 'type', true) and r.labels @> ($6::jsonb -> 'labels')) end`
/** The claimable ones, and then those that may be so at the end of their leases, each group in its order. */
const CANDIDATES = statement({
  name: 'find-dry-runs',
  text: `select i.id, case when not ${claimable(statementTime('$5'))}
        then extract(epoch from i.lease_until - ${statementTime('$5')})::float8 * 1000 end as "nextMs"
    from dry_run_item i join dry_run d on d.id = i.dry_run_id
    where i.type = any($1::text[]) and i.state < 2
      and (${claimable(statementTime('$5'))} or i.state = 1 and i.attempt < ${DRY_RUN.attempts} and i.lease_until > ${statementTime('$5')})
      and ${TARGETED} and ($3::uuid[] is null or d.project_id = any($3))
    order by "nextMs" nulls first, d.created_at, i.ordinal limit $4`,
  params: [array(text), nullable(array(text)), nullable(array(uuid)), bigint, nullable(timestamptz), nullable(jsonb)],
  row: { id: uuid, nextMs: nullable(float8) },
})
const CLAIM = statement({
  name: 'claim-dry-runs',
  text: `update dry_run_item i set state = 1, fence_hash = u.fence_hash, principal_id = $3, instance = $4,
      attempt = i.attempt + 1, lease_until = ${plusMs(statementTime('$6'), '$5')}
    from unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash), dry_run d
    where i.id = u.id and d.id = i.dry_run_id and ${claimable(statementTime('$6'))}
    returning i.id, i.object_id as "objectId", d.project_id as "projectId", i.path, i.action, i.type, i.target, i.config,
      i.attempt, i.lease_until as "leaseUntil"`,
  params: [array(uuid), array(bytea), uuid, text, float8, nullable(timestamptz)],
  row: {
    id: table.dryRunItem.id,
    objectId: table.dryRunItem.objectId,
    projectId: table.dryRun.projectId,
    path: table.dryRunItem.path,
    action: textOf<PlanAction>(),
    type: table.dryRunItem.type,
    target: table.dryRunItem.target,
    config: table.dryRunItem.config,
    attempt: table.dryRunItem.attempt,
    leaseUntil: required(table.dryRunItem.leaseUntil),
  },
})

export async function claimDryRuns(client: Client, wanted: WantedDryRuns): Promise<ClaimedDryRuns> {
  const { principalId, instance, types, targets, targetSelector, projects, max, leaseMs, time, secret } = wanted
  const selector = targetSelector && JSON.stringify(targetSelector)
  const found = await CANDIDATES.query(client, [types, targets, projects, max, time, selector])
  const ids = found.rows.filter(({ nextMs }) => nextMs === null).map(({ id }) => id)
  if (ids.length === 0) return { items: [], nextMs: found.rows[0]?.nextMs ?? null }
  const secrets = new Map(ids.map((id) => [id, secret()]))
  const hashes = [...secrets.values()].map(hashOf)
  const lease = clampLeaseMs(leaseMs)
  const { rows } = await CLAIM.query(client, [[...secrets.keys()], hashes, principalId, instance, lease, time])
  const items = rows.map(({ id, path, action, ...row }) => ({
    ...row,
    fence: makeFence(id, secrets.get(id) as Uint8Array),
    kind: 'DEPLOY_ITEM' as const,
    name: path.at(-1) ?? '',
    jobId: null,
    action: 'DRY_RUN' as const,
    dryRunOf: action === 'DELETE' ? ('DELETE' as const) : ('RECONCILE' as const),
    traceparent: null,
  }))
  // Others have claimed all that were found: the next search is due.
  return { items, nextMs: items.length > 0 ? null : 0 }
}

const RENEW = statement({
  name: 'renew-dry-runs',
  text: `update dry_run_item i set lease_until = greatest(i.lease_until, ${plusMs(timeNow('$3'), '$5')})
    from unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash), dry_run d
    where i.id = u.id and i.fence_hash = u.fence_hash and i.state = 1 and i.principal_id = $4
      and d.id = i.dry_run_id and d.created_at > ${timeNow('$3')} - ${ms(DRY_RUN.wholeMs)}
    returning i.id as "objectId", i.fence_hash as hash, i.lease_until as "leaseUntil"`,
  params: [array(uuid), array(bytea), nullable(timestamptz), uuid, float8],
  row: {
    objectId: table.dryRunItem.id,
    hash: required(table.dryRunItem.fenceHash),
    leaseUntil: required(table.dryRunItem.leaseUntil),
  },
})

export const renewDryRuns: NonNullable<Family['renew']> = async (client, fences, { principalId, leaseMs, time }) => {
  const [ids, hashes] = [fences.map(({ objectId }) => objectId), fences.map(({ hash }) => hash)]
  const { rows } = await RENEW.query(client, [ids, hashes, time, principalId, leaseMs])
  return rows
}

/** The answer of an agent. */
export interface DryRunOutcome {
  readonly changes: readonly PlannedChange[] | null
  readonly truncated: boolean
  readonly skipped: string | null
  readonly error: { readonly code: string; readonly message: string } | null
}
/** Reports of one dry run go one after the other: each reads what those before it have left of the bound. */
const LOCK_OF_FENCE = statement({
  text: `select d.id from dry_run d join dry_run_item i on i.dry_run_id = d.id
    where i.id = $1 and i.fence_hash = $2 and i.principal_id = $3 for no key update of d`,
  params: [uuid, bytea, uuid],
  row: { id: uuid },
})
const OF_FENCE = statement({
  text: `select i.state = 2 as "isDone", d.created_at > ${timeNow('$4')} - ${ms(DRY_RUN.wholeMs)}
      and (i.attempt < ${DRY_RUN.attempts} or i.lease_until > ${timeNow('$4')}) as "isOpen",
    coalesce((select sum(char_length(o.changes::text)) from dry_run_item o where o.dry_run_id = d.id), 0)::int as size
    from dry_run_item i join dry_run d on d.id = i.dry_run_id
    where i.id = $1 and i.fence_hash = $2 and i.principal_id = $3 for update of i`,
  params: [uuid, bytea, uuid, nullable(timestamptz)],
  row: { isDone: boolean, isOpen: boolean, size: integer },
})
const FINISH = statement({
  text: `update dry_run_item set state = 2, lease_until = null, config = null, changes = $2::text::jsonb, truncated = $3,
      reason = $4, error_code = $5, error_message = $6 where id = $1`,
  params: [uuid, nullable(text), boolean, nullable(text), nullable(text), nullable(text)],
})

/** The item with this fence, locked with its dry run. Null: another agent has claimed it since then, or it is gone. */
export async function findByFence(
  client: Client,
  { objectId, hash }: OpenedFence,
  principalId: string,
  time: Date | null,
) {
  // A statement of its own: one that waits for a lock still reads other rows as they were when it began.
  await LOCK_OF_FENCE.query(client, [objectId, hash, principalId])
  const { rows } = await OF_FENCE.query(client, [objectId, hash, principalId, time])
  return rows[0] ?? null
}

export async function finishDryRun(client: Client, id: string, outcome: DryRunOutcome): Promise<void> {
  const { changes, truncated, skipped, error } = outcome
  const written = changes === null ? null : JSON.stringify(changes)
  await FINISH.query(client, [id, written, truncated, skipped, error?.code ?? null, error?.message ?? null])
}

const FIND = statement({
  text: `select d.id, d.project_id as "projectId", p.name as project, d.name, d.root_id as "rootId",
      d.requested_by as "requestedBy", d.created_at as "createdAt"
    from dry_run d join project p on p.id = d.project_id where d.id = $1`,
  params: [uuid],
  row: {
    id: table.dryRun.id,
    projectId: table.dryRun.projectId,
    project: table.project.name,
    name: table.dryRun.name,
    rootId: table.dryRun.rootId,
    requestedBy: table.dryRun.requestedBy,
    createdAt: table.dryRun.createdAt,
  },
})
export interface DryRunRow {
  readonly id: string
  readonly projectId: string
  readonly project: string
  readonly name: string
  readonly rootId: string | null
  readonly requestedBy: string
  readonly createdAt: Date
}
export async function findDryRun(client: Client, id: string): Promise<DryRunRow | null> {
  const { rows } = await FIND.query(client, [id])
  return rows[0] ?? null
}

const ITEMS = statement({
  text: `select i.path, i.action, i.type, i.target, i.state, i.reason, i.error_code as "errorCode",
      i.error_message as "errorMessage", i.changes, i.truncated, i.attempt, i.lease_until as "leaseUntil",
      d.created_at as "createdAt", ${timeNow('$2')} as now
    from dry_run_item i join dry_run d on d.id = i.dry_run_id where i.dry_run_id = $1 order by i.ordinal`,
  params: [uuid, nullable(timestamptz)],
  row: {
    path: table.dryRunItem.path,
    action: textOf<PlanAction>(),
    type: table.dryRunItem.type,
    target: table.dryRunItem.target,
    state: smallintOf<StoredState>(),
    reason: table.dryRunItem.reason,
    errorCode: table.dryRunItem.errorCode,
    errorMessage: table.dryRunItem.errorMessage,
    changes: nullable(json<readonly PlannedChange[]>()),
    truncated: table.dryRunItem.truncated,
    attempt: table.dryRunItem.attempt,
    leaseUntil: table.dryRunItem.leaseUntil,
    createdAt: table.dryRun.createdAt,
    now: timestamptz,
  },
})
export interface DryRunItemRow extends DryRunFacts {
  readonly path: readonly string[]
  readonly action: PlanAction
  readonly type: string
  readonly target: string | null
  readonly changes: readonly PlannedChange[] | null
  readonly truncated: boolean
}
export async function loadDryRunItems(
  client: Client,
  id: string,
  time: Date | null,
): Promise<readonly DryRunItemRow[]> {
  const { rows } = await ITEMS.query(client, [id, time])
  return rows
}

const STATES = statement({
  text: `select o.id, w.handed, w.handed_config as "handedConfig", coalesce(i.exports, d.exports) as exports
    from object o left join agent_work w on w.object_id = o.id left join deploy_item d on d.object_id = o.id
    left join installation i on i.object_id = o.id where o.root_id = $1`,
  params: [uuid],
  row: { id: table.object.id, handed: nullable(boolean), handedConfig: nullable(jsonb), exports: nullable(jsonb) },
})
/** The deployed state of each object of a tree, by its id. */
export async function loadDeployed(client: Client, rootId: string): Promise<ReadonlyMap<string, DeployedState>> {
  const { rows } = await STATES.query(client, [rootId])
  return new Map(rows.map((row) => [row.id, row]))
}
