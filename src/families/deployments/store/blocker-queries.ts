import { servedBy } from '../../../core/claimant.ts'
import { GATE } from '../../../core/deployers/gate.ts'
import type { Retry } from '../../../core/retry.ts'
import type { TargetFacts } from '../../../core/target.ts'
import { awaitsAgent, isFinished, type WorkState } from '../../../core/tree.ts'
import type { ObjectKind } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { array, boolean, joined, json, nullable, smallintOf, text, uuid } from '../../../store/column-types.ts'
import { withPoll } from '../../../store/gate-polls.ts'
import { loadHeldUpTickets } from '../../../store/held-up-tickets.ts'
import { loadAgentsOf } from '../../../store/loaders/agents.ts'
import { type StatementRow, statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { loadTargetFacts } from '../../../store/targets.ts'
import { agentWork } from '../../../store/views.ts'
import type { Gate } from '../../gate.ts'
import { type BlockerInputs, UNSUCCESSFUL, type Waiting } from '../rules/blockers.ts'
import type { UnmetInvariant } from '../rules/invariants.ts'
import type { PendingOrigin } from '../rules/origin.ts'
import type { PlanFacts } from '../rules/predict-blockers.ts'
import { peekUnmet, UNMET_BY } from './invariants.ts'

/** Bounds of the chains of blockers that are followed for one list of objects. */
const MAX_OBJECTS = 2_000
const MAX_NEIGHBOURS = 20

/**
 * The objects and the chains of their blockers: dependencies that have not succeeded in this job, objects that must be
 * deleted first, unfinished children, parents, and what failed in the job. A superset is
 * harmless.
 */
const ITEM: ObjectKind = 'DEPLOY_ITEM'
const HAS_FAILED = `phase = any(array[${UNSUCCESSFUL.map((phase) => `'${phase}'`).join(', ')}]::phase[])`
const CHAINS = statement({
  text: `with recursive chain (id) as (
    select unnest($1::uuid[])
    union
    select next.id from chain join object o on o.id = chain.id join object r on r.id = o.root_id
    left join object p on p.id = o.parent_id cross join lateral (
      (select d.id from edge e join object d on d.id = e.to_id
        where e.from_id = o.id and o.deletion_requested_at is null
          and not (d.phase = 'SUCCEEDED' and d.finished_job_id is not distinct from r.job_id) limit ${MAX_NEIGHBOURS})
      union all
      (select e.from_id from edge e where e.to_id = o.id and o.deletion_requested_at is not null limit ${MAX_NEIGHBOURS})
      union all
      (select c.id from object c left join agent_work w on w.object_id = c.id
        where c.parent_id = o.id and o.job_id is distinct from o.finished_job_id
          and c.job_id = o.job_id and c.finished_job_id is distinct from c.job_id
        order by coalesce(w.state, 3), c.ordinal limit ${MAX_NEIGHBOURS})
      union all
      (select f.id from object f where f.parent_id = o.id and f.job_id = o.job_id
          and f.finished_job_id = f.job_id and f.${HAS_FAILED}
          and exists (select from tally t where t.object_id = o.id and t.failed > 0)
        order by f.ordinal limit ${MAX_NEIGHBOURS})
      union all
      (select unnest(array[o.parent_id, o.root_id]))
      union all
      (select x.exporter_id from root_import i join root_export x on x.project_id = i.project_id and x.name = i.name
        where i.importer_id = o.id and o.phase = 'PENDING_DEPENDENCIES' limit ${MAX_NEIGHBOURS})
      union all
      (select i.importer_id from root_export x join root_import i on i.project_id = x.project_id and i.name = x.name
        where x.exporter_id = o.id and o.phase = 'INIT_DELETE' limit ${MAX_NEIGHBOURS})
    ) next where next.id is not null and (r.job_id is distinct from r.finished_job_id or o.job_id is distinct from p.job_id
      or o.kind <> '${ITEM}' and o.${HAS_FAILED})
  ) select id from chain limit ${MAX_OBJECTS}`,
  params: [array(uuid)],
  row: { id: uuid },
})

const DETAILS = statement({
  text: `select o.id, o.root_id as "rootId", o.project_id as "projectId", o.parent_id as "parentId", o.kind, o.name, o.phase, o.generation,
    o.observed_generation as "observedGeneration", o.job_id as "jobId", o.finished_job_id as "finishedJobId",
    o.deletion_requested_at as "deletionRequestedAt", o.waiting_for as "waitingFor",
    i.object_id is not null as "isInstallation", i.ignored, i.mode, i.next_mode as "nextMode",
    i.next_deletion as "nextDeletion", i.cancel_requested_at as "cancelRequestedAt", i.cancel_by as "cancelBy",
    exists (select from root_pause p where p.root_id = o.id) as "isPaused", i.next_origin as "nextOrigin", i.force_deletion as "forceDeletion", i.without_uninstall as "withoutUninstall",
    exists (select from limit_ticket l where l.object_id = o.id and l.granted_at is null) as "isLimited",
    case when o.parent_id is null and o.phase = 'PENDING_DEPENDENCIES' then ${UNMET_BY('o.id')} end as unmet,
    t.untriggered, t.open, t.failed, w.type, w.target, w.state, w.offer_after as "offerAfter",
    case when w.abort_requested_at is null then w.lease_until end as "leaseUntil",
    case when w.offer_after is not null then (select d.retry from deploy_item d where d.object_id = o.id) end as "retry", q.wake_at as "retryAt",
    (select ${withPoll('d.gate', 'd.object_id')} from deploy_item d where d.object_id = o.id and w.type = '${GATE}' and o.phase = 'INIT') as "gate",
    (select s.error ->> 'message' from object_status s where s.object_id = o.id and w.offer_after is not null) as "lastProblem",
    (select jsonb_build_object('type', g.type, 'labels', g.labels) from target g
      where g.project_id = o.project_id and g.name = w.target) as "targetFacts",
    (select s.error ->> 'message' from object_status s where s.object_id = o.id and o.${HAS_FAILED}) as "problem",
    array(select e.to_id from edge e where e.from_id = o.id and e.to_id = any($1::uuid[])) as "dependsOn",
    array(select e.from_id from edge e where e.to_id = o.id and e.from_id = any($1::uuid[])) as "dependents"
  from object o
  left join installation i on i.object_id = o.id
  left join tally t on t.object_id = o.id
  left join agent_work w on w.object_id = o.id
  left join root_queue q on q.root_id = o.id and q.failures > 0
  where o.id = any($1::uuid[]) order by coalesce(w.state, 3), o.ordinal`,
  params: [array(uuid)],
  row: {
    id: table.object.id,
    rootId: table.object.rootId,
    projectId: table.object.projectId,
    parentId: table.object.parentId,
    kind: table.object.kind,
    name: table.object.name,
    phase: table.object.phase,
    generation: table.object.generation,
    observedGeneration: table.object.observedGeneration,
    jobId: table.object.jobId,
    finishedJobId: table.object.finishedJobId,
    deletionRequestedAt: table.object.deletionRequestedAt,
    waitingFor: table.object.waitingFor,
    isInstallation: boolean,
    isPaused: boolean,
    isLimited: boolean,
    unmet: nullable(json<readonly UnmetInvariant[]>()),
    ignored: joined(table.installation.ignored),
    mode: joined(table.installation.mode),
    nextMode: table.installation.nextMode,
    nextDeletion: joined(table.installation.nextDeletion),
    cancelRequestedAt: table.installation.cancelRequestedAt,
    cancelBy: table.installation.cancelBy,
    nextOrigin: nullable(json<PendingOrigin>()),
    forceDeletion: joined(table.installation.forceDeletion),
    withoutUninstall: joined(table.installation.withoutUninstall),
    untriggered: nullable(table.tally.untriggered),
    open: nullable(table.tally.open),
    failed: nullable(table.tally.failed),
    type: nullable(agentWork.type),
    target: agentWork.target,
    targetFacts: nullable(json<Omit<TargetFacts, 'name'>>()),
    state: joined(smallintOf<WorkState>()),
    offerAfter: agentWork.offerAfter,
    leaseUntil: agentWork.leaseUntil,
    retry: nullable(json<Retry>()),
    retryAt: nullable(table.rootQueue.wakeAt),
    gate: nullable(json<Gate>()),
    lastProblem: nullable(text),
    problem: nullable(text),
    dependsOn: array(uuid),
    dependents: array(uuid),
  },
})

// The spec says which imports are required; the table of imports only has their names.
const SCOPE = statement({
  text: `select o.id as "rootId", n.name, n.required, x.exporter_id as "exporterId", d.name is not null as exists
  from object o join object_spec s on s.object_id = o.id
  cross join lateral (select m ->> 'from' as name, bool_or((m ->> 'required')::boolean) as required
    from jsonb_array_elements(s.spec -> 'imports') m where m -> 'value' is null group by 1) n
  left join root_export x on x.project_id = o.project_id and x.name = n.name and x.exporter_id <> o.id
  left join data_object d on d.project_id = o.project_id and d.name = n.name
  where o.id = any($1::uuid[]) and o.parent_id is null and o.phase = 'PENDING_DEPENDENCIES'`,
  params: [array(uuid)],
  row: {
    rootId: table.object.id,
    name: text,
    required: boolean,
    exporterId: nullable(table.rootExport.exporterId),
    exists: boolean,
  },
})

const IMPORTERS = statement({
  text: `select distinct x.exporter_id as "exporterId", i.importer_id as "importerId"
  from root_export x join root_import i on i.project_id = x.project_id and i.name = x.name and i.importer_id <> x.exporter_id
  where x.exporter_id = any($1::uuid[]) and i.importer_id = any($1::uuid[])`,
  params: [array(uuid)],
  row: { exporterId: table.rootExport.exporterId, importerId: table.rootImport.importerId },
})

type DetailsRow = StatementRow<typeof DETAILS>

/** Runs five statements, and one for limits, whatever the number of objects and the length of the chains. */
export async function queryBlockerInputs(
  client: Client,
  ids: readonly string[],
  agentsSince: Date,
  now: Date,
): Promise<BlockerInputs> {
  const chain = await CHAINS.query(client, [ids])
  const all = [...new Set([...ids, ...chain.rows.map(({ id }) => id)])]
  const [{ rows }, scope, importers] = await Promise.all([
    DETAILS.query(client, [all]),
    SCOPE.query(client, [all]),
    IMPORTERS.query(client, [all]),
  ])
  const types = new Set(rows.flatMap(({ type, ...work }) => (type !== null && awaitsAgent(work, now) ? [type] : [])))
  const agents = types.size > 0 ? await loadAgentsOf(client, [...types], agentsSince) : []
  const tickets = await loadHeldUpTickets(
    client,
    rows.flatMap(({ id, isLimited }) => (isLimited ? id : [])),
    now,
  )
  const ofJob = rows.filter(hasJobOfParent(rows))
  const childrenOf = (isOne: (row: DetailsRow) => boolean) => {
    const found = Map.groupBy(ofJob.filter(isOne), ({ parentId }) => parentId ?? '')
    return ({ id }: DetailsRow) => (found.get(id) ?? []).map((child) => child.id)
  }
  const openChildren = childrenOf((row) => !isFinished(row))
  const unsuccessfulChildren = childrenOf((row) => isFinished(row) && UNSUCCESSFUL.includes(row.phase))
  const objects = rows.map((row): readonly [string, Waiting] => [
    row.id,
    toWaiting(row, {
      openChildren: openChildren(row),
      unsuccessfulChildren: unsuccessfulChildren(row),
      tickets: tickets.get(row.id) ?? [],
      scope: scope.rows.filter(({ rootId }) => rootId === row.id),
      importers: importers.rows.filter(({ exporterId }) => exporterId === row.id).map(({ importerId }) => importerId),
    }),
  ])
  return {
    objects: new Map(objects),
    isServed: servedBy(agents),
  }
}

const MISSING_NAMES = statement({
  text: `select n.name from unnest($2::text[]) as n(name)
  left join project p on p.name = $1
  left join root_export x on x.project_id = p.id and x.name = n.name and x.exporter_id is distinct from $3
  left join data_object d on d.project_id = p.id and d.name = n.name
  where x.name is null and d.name is null`,
  params: [text, array(text), nullable(uuid)],
  row: { name: text },
})

/** The facts for `predictBlockers`. */
export async function queryPlanFacts(
  client: Client,
  asked: {
    readonly project: string
    /** Null: there is no such project. */
    readonly projectId: string | null
    /** The installation itself; null: a new one. */
    readonly id: string | null
    readonly names: readonly string[]
    readonly types: readonly string[]
    readonly name: string
    readonly spec: unknown
  },
  agentsSince: Date,
): Promise<PlanFacts> {
  const { project, projectId, id, names, types, name, spec } = asked
  const [missing, agents, unmet] = await Promise.all([
    names.length > 0 ? MISSING_NAMES.query(client, [project, names, id]) : null,
    types.length > 0 ? loadAgentsOf(client, types, agentsSince) : [],
    projectId === null ? [] : peekUnmet(client, { projectId, name, spec }),
  ])
  const targets = projectId === null || types.length === 0 ? [] : await loadTargetFacts(client, projectId)
  const isServed = servedBy(agents)
  return {
    missing: new Set(missing?.rows.map(({ name }) => name)),
    unmet,
    isServed: ({ type, target }) => {
      const targetFacts = targets.find(({ name }) => name === target) ?? null
      return isServed({ type, target, targetFacts, projectId })
    },
    targets,
  }
}

type ScopeRow = StatementRow<typeof SCOPE>
const isMissing = ({ required, exists, exporterId }: ScopeRow): boolean => required && !exists && exporterId === null
interface Related {
  readonly openChildren: readonly string[]
  readonly unsuccessfulChildren: readonly string[]
  readonly tickets: Waiting['tickets']
  readonly scope: readonly ScopeRow[]
  readonly importers: readonly string[]
}

function hasJobOfParent(rows: readonly DetailsRow[]): (row: DetailsRow) => boolean {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return (row) => {
    const parent = row.parentId === null ? undefined : byId.get(row.parentId)
    return parent !== undefined && row.jobId === parent.jobId
  }
}

function toWaiting(details: DetailsRow, { scope, importers, ...children }: Related): Waiting {
  const { isInstallation, ignored, mode, nextMode, nextDeletion, cancelRequestedAt, cancelBy, ...some } = details
  const { isPaused, isLimited: _, nextOrigin, forceDeletion, withoutUninstall, ...others } = some
  const requested = { isPaused, ignored, nextMode, nextDeletion, nextOrigin, forceDeletion, withoutUninstall }
  const { open, type, problem, ...rest } = others
  const {
    untriggered,
    failed,
    target,
    targetFacts,
    state,
    offerAfter,
    leaseUntil,
    retry,
    retryAt,
    unmet,
    lastProblem,
    gate,
    dependsOn,
    dependents,
    ...row
  } = rest
  const exporters = scope.flatMap(({ exporterId }) => exporterId ?? [])
  return {
    row,
    problem,
    installation: isInstallation ? { ...requested, mode, cancelRequestedAt, cancelBy } : null,
    childCounts: open === null || failed === null || untriggered === null ? null : { untriggered, open, failed },
    work:
      type === null || isInstallation
        ? null
        : { type, target, targetFacts, state, offerAfter, leaseUntil, lastProblem, retry, gate },
    dependsOn: [...new Set([...dependsOn, ...exporters])],
    dependents: [...dependents, ...importers],
    ...children,
    missing: scope.filter(isMissing).map(({ name }) => name),
    unmet: unmet ?? [],
    retryAt,
  }
}
