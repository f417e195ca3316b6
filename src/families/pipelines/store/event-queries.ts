import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import type { Strategy, WorkloadSpec } from '../../../projects/rules/spec.ts'
import type { Client } from '../../../store/client.ts'
import { array, integer, json, nullable, required, text, uuid } from '../../../store/column-types.ts'
import { loadLabels } from '../../../store/loaders/side-rows.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { LockedProject } from '../../family.ts'
import type { TaskJob } from '../../tasks.ts'
import type { EventFilter, EventSpec, NewEvent } from '../rules/normalise-event.ts'
import { loadWholeEvents } from './details.ts'

/** Queries of the commands about projects, events and their workloads. */

export interface Subscriber {
  readonly id: string
  readonly name: string
  readonly strategy: Strategy
}

const SUBSCRIBER = { id: table.project.id, name: table.project.name, strategy: table.project.strategy }

const FIND_PROJECT = statement({
  name: 'find-project',
  text: 'select id, name, strategy from project where name = $1',
  params: [text],
  row: SUBSCRIBER,
})

export async function findProject(client: Client, name: string): Promise<readonly Subscriber[]> {
  const { rows } = await FIND_PROJECT.query(client, [name])
  return rows
}

/** A subscription `s` of a project `p` is for the event, whose sender may create it in the project. */
const MATCHES =
  "s.source = $1 and s.types && array[$2, '*'] and s.qualifiers = $3::text::jsonb and $4::text::jsonb @> s.labels"
const IS_ALLOWED = '($5::uuid[] is null or p.id = any($5::uuid[]))'
const EVENT_PARAMS = [text, text, text, text, nullable(array(uuid))] as const
const valuesOf = ({ source, type, qualifiers, labels }: EventSpec, projects: readonly string[] | null) =>
  [source, type, JSON.stringify(qualifiers), JSON.stringify(labels), projects] as const

const FIND_SUBSCRIBERS = statement({
  name: 'find-subscribers',
  text: `select p.id, p.name, p.strategy from project p
      where p.worker_template is not null and ${IS_ALLOWED}
        and p.id in (select s.project_id from subscription s where s.task is null and ${MATCHES})
      order by p.name`,
  params: EVENT_PARAMS,
  row: SUBSCRIBER,
})

/** The distinct projects with a matching subscription, by name. */
export async function findSubscribers(
  client: Client,
  event: EventSpec,
  projects: readonly string[] | null,
): Promise<readonly Subscriber[]> {
  const { rows } = await FIND_SUBSCRIBERS.query(client, valuesOf(event, projects))
  return rows
}

const FIND_TASK_SUBSCRIPTIONS = statement({
  name: 'find-task-subscriptions',
  text: `select p.name as project, s.ordinal, s.task as jobs from subscription s join project p on p.id = s.project_id
      where s.task is not null and ${IS_ALLOWED} and ${MATCHES} order by p.name, s.ordinal`,
  params: EVENT_PARAMS,
  row: { project: table.project.name, ordinal: table.subscription.ordinal, jobs: required(json<readonly TaskJob[]>()) },
})

/** Matching subscriptions that create a task, by project and position. */
export async function findTaskSubscriptions(
  client: Client,
  event: EventSpec,
  projects: readonly string[] | null,
): Promise<readonly { readonly project: string; readonly ordinal: number; readonly jobs: readonly TaskJob[] }[]> {
  const { rows } = await FIND_TASK_SUBSCRIPTIONS.query(client, valuesOf(event, projects))
  return rows
}

const FIND_WAITING_WORKERS = statement({
  name: 'find-waiting-workers',
  text: `select o.root_id as "rootId", o.id as "workerId"
      from workload w join object o on o.id = w.object_id join event e on e.object_id = o.root_id
      where w.pool = 'WORKER' and w.project_id = $1 and (w.state = 0 or w.state = 3) and e.source = $2 and e.type = $3
      order by w.seq`,
  params: [uuid, text, text],
  row: { rootId: table.object.rootId, workerId: table.object.id },
})

/** Workers that wait for a slot or for their next attempt, of the project's events of one source and type. */
export async function findWaitingWorkers(
  { client, projectId }: LockedProject,
  source: string,
  type: string,
): Promise<readonly { readonly rootId: string; readonly workerId: string }[]> {
  const { rows } = await FIND_WAITING_WORKERS.query(client, [projectId, source, type])
  return rows
}

/** All that an event was created with, to create it again. Null: it is gone. */
export async function readEvent(client: Client, id: string): Promise<NewEvent | null> {
  const [events, labels] = await Promise.all([loadWholeEvents(client, [id]), loadLabels(client, [id])])
  const [event, of] = [events.get(id), labels.get(id)]
  if (!event || !of) return null
  const { key: _, ...details } = event
  return { ...details, labels: of.labels }
}

const FIND_EVENTS = statement({
  name: 'find-events',
  text: `select o.id from object o join event e on e.object_id = o.id join object_spec s on s.object_id = o.id
      where o.project_id = $1 and o.kind = 'EVENT' and o.parent_id is null
        and o.phase = any($2::phase[]) and ($3::text is null or e.source = $3) and ($4::text is null or e.type = $4)
        and ($5::text is null or e.qualifiers = $5::jsonb) and s.labels @> $6::text::jsonb
      order by o.id`,
  params: [uuid, array(table.phase), nullable(text), nullable(text), nullable(text), text],
  row: { id: table.object.id },
})

/** Ids of the project's events that match the filter, the oldest first. */
export async function findEvents(
  client: Client,
  projectId: string,
  { phases, source, type, qualifiers, labels }: EventFilter,
): Promise<readonly string[]> {
  const { rows } = await FIND_EVENTS.query(client, [
    projectId,
    phases,
    source,
    type,
    qualifiers && JSON.stringify(qualifiers),
    JSON.stringify(labels),
  ])
  return rows.map(({ id }) => id)
}

export interface EventObject {
  readonly id: string
  readonly kind: ObjectKind
  readonly name: string
}
const FIND_EVENT_MEMBERS = statement({
  name: 'find-event-members',
  text: `select id, kind, name from object where root_id = $1
      order by case kind when 'EVENT' then 2 when 'WORKER' then 1 else 0 end, id`,
  params: [uuid],
  row: { id: table.object.id, kind: table.object.kind, name: table.object.name },
})

/** All objects of an event's tree, leaves first. */
export async function findEventObjects(client: Client, rootId: string): Promise<readonly EventObject[]> {
  const { rows } = await FIND_EVENT_MEMBERS.query(client, [rootId])
  return rows
}

const FIND_EVENT_WORKER = statement({
  name: 'find-event-worker',
  text: `select id from object where parent_id = $1 and kind = 'WORKER'`,
  params: [uuid],
  row: { id: table.object.id },
})

export async function findWorker(client: Client, eventId: string): Promise<string | null> {
  const { rows } = await FIND_EVENT_WORKER.query(client, [eventId])
  return rows[0]?.id ?? null
}

export interface KnownJob {
  readonly id: string
  readonly name: string
  readonly phase: Phase
  readonly spec: WorkloadSpec
  readonly usesWorkspace: boolean
  readonly inheritedFrom: string | null
}
const JOBS = `select o.id, o.name, o.phase, s.spec, w.uses_workspace as "usesWorkspace", w.inherited_from as "inheritedFrom"
  from object o join object_spec s on s.object_id = o.id join workload w on w.object_id = o.id
  where o.parent_id = $1 and o.kind = 'JOB'`
const JOB = {
  ...{ id: table.object.id, name: table.object.name, phase: table.object.phase, spec: json<WorkloadSpec>() },
  ...{ usesWorkspace: table.workload.usesWorkspace, inheritedFrom: table.workload.inheritedFrom },
}

const FIND_SUCCEEDED_JOBS = statement({
  name: 'find-succeeded-jobs',
  text: `${JOBS} and o.phase = 'SUCCEEDED' order by o.ordinal`,
  params: [uuid],
  row: JOB,
})

/** Succeeded jobs of a worker, in their order. */
export async function findSucceededJobs(client: Client, workerId: string): Promise<readonly KnownJob[]> {
  const { rows } = await FIND_SUCCEEDED_JOBS.query(client, [workerId])
  return rows
}
const FIND_JOB = statement({
  name: 'find-job',
  text: `${JOBS} and o.name = $2`,
  params: [uuid, text],
  row: JOB,
})

export async function findJob(client: Client, workerId: string, name: string): Promise<KnownJob | null> {
  const { rows } = await FIND_JOB.query(client, [workerId, name])
  return rows[0] ?? null
}
const COUNT_JOBS = statement({
  name: 'count-jobs',
  text: `select count(*)::integer as n from object where parent_id = $1`,
  params: [uuid],
  row: { n: integer },
})

export async function countJobs(client: Client, workerId: string): Promise<number> {
  const { rows } = await COUNT_JOBS.query(client, [workerId])
  return rows[0]?.n ?? 0
}
const READ_WORKLOAD_SPEC = statement({
  name: 'read-workload-spec',
  text: 'select spec from object_spec where object_id = $1',
  params: [uuid],
  row: { spec: json<WorkloadSpec>() },
})

export async function readWorkloadSpec(client: Client, id: string): Promise<WorkloadSpec | null> {
  const { rows } = await READ_WORKLOAD_SPEC.query(client, [id])
  return rows[0]?.spec ?? null
}
