import type { Viewer } from '../../core/ports/viewer.ts'
import type { ObjectKind, Phase } from '../../core/vocabulary.ts'
import type { Client } from '../../store/client.ts'
import type { LockedProject } from '../family.ts'
import type { EventDetails } from './details.ts'
import type { EventFilter, EventSpec } from './normalise-event.ts'
import type { Strategy, TaskJob, WorkloadSpec } from './spec.ts'

/** What the commands want to know of projects, events and their workloads. */

export interface Subscriber {
  readonly name: string
  readonly strategy: Strategy
}

export async function findProject(client: Client, name: string): Promise<readonly Subscriber[]> {
  const { rows } = await client.query<Subscriber>({
    name: 'find-project',
    text: 'select name, strategy from project where name = $1',
    values: [name],
  })
  return rows
}

/** The projects with a subscription that matches, each once, by name. */
export async function findSubscribers(
  client: Client,
  { source, type, qualifiers, labels }: EventSpec,
  projects: Viewer['projects'],
): Promise<readonly Subscriber[]> {
  const { rows } = await client.query<Subscriber>({
    name: 'find-subscribers',
    text: `select p.name, p.strategy from project p
      where p.worker_template is not null and ($5::text[] is null or p.name = any($5::text[]))
        and p.id in (select s.project_id from subscription s
          where s.task is null and s.source = $1 and s.types && array[$2, '*'] and s.qualifiers = $3::text::jsonb
            and $4::text::jsonb @> s.labels)
      order by p.name`,
    values: [source, type, JSON.stringify(qualifiers), JSON.stringify(labels), projects],
  })
  return rows
}

/** Subscriptions that match and create a task, by project and place. */
export async function findTaskSubscriptions(
  client: Client,
  { source, type, qualifiers, labels }: EventSpec,
  projects: Viewer['projects'],
): Promise<readonly { readonly project: string; readonly ordinal: number; readonly jobs: readonly TaskJob[] }[]> {
  const { rows } = await client.query<{ project: string; ordinal: number; jobs: readonly TaskJob[] }>({
    name: 'find-task-subscriptions',
    text: `select p.name as project, s.ordinal, s.task as jobs from subscription s join project p on p.id = s.project_id
      where s.task is not null and ($5::text[] is null or p.name = any($5::text[]))
        and s.source = $1 and s.types && array[$2, '*'] and s.qualifiers = $3::text::jsonb
        and $4::text::jsonb @> s.labels
      order by p.name, s.ordinal`,
    values: [source, type, JSON.stringify(qualifiers), JSON.stringify(labels), projects],
  })
  return rows
}

/** Workers that wait for a slot, of the project's events of one source and type. */
export async function findWaitingWorkers(
  { client, projectId }: LockedProject,
  source: string,
  type: string,
): Promise<readonly { readonly rootId: string; readonly workerId: string }[]> {
  const { rows } = await client.query<{ rootId: string; workerId: string }>({
    name: 'find-waiting-workers',
    text: `select o.root_id as "rootId", o.id as "workerId"
      from workload w join object o on o.id = w.object_id join event e on e.object_id = o.root_id
      where w.pool = 'WORKER' and w.project_id = $1 and w.state = 0 and e.source = $2 and e.type = $3
      order by w.seq`,
    values: [projectId, source, type],
  })
  return rows
}

/** Null: it is gone. */
export async function readEvent(
  client: Client,
  id: string,
): Promise<(EventSpec & Pick<EventDetails, 'subscribed'>) | null> {
  const { rows } = await client.query<EventSpec & Pick<EventDetails, 'subscribed'>>({
    name: 'read-event',
    text: `select e.source, e.type, e.qualifiers, e.payload, e.subscribed, s.labels
      from event e join object_spec s on s.object_id = e.object_id where e.object_id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

/** Ids of the project's events that the filter asks for, the oldest first. */
export async function findEvents(
  client: Client,
  { project, phases, source, type, qualifiers, labels }: EventFilter,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'find-events',
    text: `select o.id from object o join event e on e.object_id = o.id join object_spec s on s.object_id = o.id
      where o.project_id = (select id from project where name = $1) and o.kind = 'EVENT' and o.parent_id is null
        and o.phase = any($2::phase[]) and ($3::text is null or e.source = $3) and ($4::text is null or e.type = $4)
        and ($5::text is null or e.qualifiers = $5::jsonb) and s.labels @> $6::text::jsonb
      order by o.id`,
    values: [project, phases, source, type, qualifiers && JSON.stringify(qualifiers), JSON.stringify(labels)],
  })
  return rows.map(({ id }) => id)
}

export interface Member {
  readonly id: string
  readonly kind: ObjectKind
  readonly name: string
}
/** Everything in an event's tree, leaves first. */
export async function findMembers(client: Client, rootId: string): Promise<readonly Member[]> {
  const { rows } = await client.query<Member>({
    name: 'find-event-members',
    text: `select id, kind, name from object where root_id = $1
      order by case kind when 'EVENT' then 2 when 'WORKER' then 1 else 0 end, id`,
    values: [rootId],
  })
  return rows
}

export async function findWorker(client: Client, eventId: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>({
    name: 'find-event-worker',
    text: `select id from object where parent_id = $1 and kind = 'WORKER'`,
    values: [eventId],
  })
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

/** Jobs of a worker that have succeeded, in their order. */
export async function findSucceededJobs(client: Client, workerId: string): Promise<readonly KnownJob[]> {
  const { rows } = await client.query<KnownJob>({
    name: 'find-succeeded-jobs',
    text: `${JOBS} and o.phase = 'SUCCEEDED' order by o.ordinal`,
    values: [workerId],
  })
  return rows
}
export async function findJob(client: Client, workerId: string, name: string): Promise<KnownJob | null> {
  const { rows } = await client.query<KnownJob>({
    name: 'find-job',
    text: `${JOBS} and o.name = $2`,
    values: [workerId, name],
  })
  return rows[0] ?? null
}
export async function countJobs(client: Client, workerId: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>({
    name: 'count-jobs',
    text: `select count(*)::integer as n from object where parent_id = $1`,
    values: [workerId],
  })
  return rows[0]?.n ?? 0
}
export async function readWorkloadSpec(client: Client, id: string): Promise<WorkloadSpec | null> {
  const { rows } = await client.query<{ spec: WorkloadSpec }>({
    name: 'read-workload-spec',
    text: 'select spec from object_spec where object_id = $1',
    values: [id],
  })
  return rows[0]?.spec ?? null
}
