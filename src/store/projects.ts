import type { AuditedCall } from '../core/audit.ts'
import type { System } from '../core/ports/system.ts'
import { recordDone } from './audit.ts'
import type { Client } from './client.ts'
import { array, boolean, integer, nullable, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

const ENSURE_PROJECT = statement({
  text: 'insert into project (id, name, created_at, updated_at) values ($1, $2, $3, $3) on conflict (name) do nothing',
  params: [uuid, text, timestamptz],
})

/** Creates the project unless it exists: two processes may start at once. Every start does so: it is SQL. */
export async function ensureProject(client: Client, name: string, system: System): Promise<void> {
  await ENSURE_PROJECT.query(client, [system.id(), name, system.now()])
}

const FIND_PROJECT_ID = statement({
  text: 'select id from project where name = $1',
  params: [text],
  row: { id: table.project.id },
})

/** Id of the project that has the name now; null: there is none. */
export async function findProjectId(client: Client, name: string): Promise<string | null> {
  const { rows } = await FIND_PROJECT_ID.query(client, [name])
  return rows[0]?.id ?? null
}

/** A project's template of workers and its limits, as stored. */
export interface ProjectSettings {
  /** Null: it has no workers. */
  readonly workerTemplate: object | null
  readonly limits: Partial<ProjectLimits>
  /** Null: it says none. */
  readonly promotesTo: string | null
}
interface ProjectLimits {
  readonly maxWorkers: number | null
  readonly maxJobs: number | null
  readonly strategy: 'QUEUE' | 'LATEST_ONLY'
}
export interface SubscriptionRow {
  readonly source: string
  readonly types: readonly string[]
  readonly qualifiers: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  /** Jobs; null: it starts a worker. */
  readonly task: readonly object[] | null
}

interface NewProject extends ProjectSettings {
  readonly name: string
  readonly subscriptions: readonly SubscriptionRow[]
}

const WRITE_PROJECT = statement({
  name: 'write-project',
  text: `update project set updated_at = $2,
        worker_template = case when ($3::boolean[])[1] then $4::text::jsonb else worker_template end,
        max_workers = case when ($3::boolean[])[2] then $5::integer else max_workers end,
        max_jobs = case when ($3::boolean[])[3] then $6::integer else max_jobs end,
        strategy = case when ($3::boolean[])[4] then $7::text::project_strategy else strategy end,
        promotes_to = case when ($3::boolean[])[5] then $8::text else promotes_to end
      where id = $1`,
  params: [
    ...([uuid, timestamptz, array(boolean), nullable(text), nullable(integer), nullable(integer)] as const),
    ...([nullable(text), nullable(text)] as const),
  ],
})

/** Under the project's scope lock. Settings that are undefined stay as they are. */
export async function writeProject(
  client: Client,
  projectId: string,
  { workerTemplate, limits = {}, promotesTo }: Partial<ProjectSettings>,
  now: Date,
): Promise<void> {
  const { maxWorkers, maxJobs, strategy } = limits
  const template = workerTemplate && JSON.stringify(workerTemplate)
  const isSet = [template, maxWorkers, maxJobs, strategy, promotesTo].map((value) => value !== undefined)
  await WRITE_PROJECT.query(client, [
    projectId,
    now,
    isSet,
    template ?? null,
    maxWorkers ?? null,
    maxJobs ?? null,
    strategy ?? null,
    promotesTo ?? null,
  ])
}

const REMOVE_SUBSCRIPTIONS = statement({
  name: 'remove-subscriptions',
  text: 'delete from subscription where project_id = $1',
  params: [uuid],
})

const INSERT_SUBSCRIPTIONS = statement({
  name: 'insert-subscriptions',
  text: `insert into subscription (project_id, ordinal, source, types, qualifiers, labels, task)
      select $1, n - 1, s->>'source', array(select jsonb_array_elements_text(s->'types')), s->'qualifiers', s->'labels', nullif(s->'task', 'null')
      from jsonb_array_elements($2::text::jsonb) with ordinality as given(s, n)`,
  params: [uuid, text],
})

/** Under the project's scope lock. */
export async function replaceSubscriptions(
  client: Client,
  projectId: string,
  subscriptions: readonly SubscriptionRow[],
): Promise<void> {
  await REMOVE_SUBSCRIPTIONS.query(client, [projectId])
  await INSERT_SUBSCRIPTIONS.query(client, [projectId, JSON.stringify(subscriptions)])
}

/** Its id; null: its name is taken. */
export async function insertProject(
  client: Client,
  system: System,
  { name, subscriptions, ...settings }: NewProject,
  call: AuditedCall | undefined,
): Promise<string | null> {
  const [projectId, now] = [system.id(), system.now()]
  const { rowCount } = await ENSURE_PROJECT.query(client, [projectId, name, now])
  if (rowCount === 0) return null
  await writeProject(client, projectId, settings, now)
  await replaceSubscriptions(client, projectId, subscriptions)
  if (call) await recordDone(client, call, { projectId, objectId: projectId })
  return projectId
}

const EXISTS = statement({
  text: 'select exists (select from project where id = $1) as found',
  params: [uuid],
  row: { found: boolean },
})
export async function projectExists(client: Client, projectId: string): Promise<boolean> {
  const { rows } = await EXISTS.query(client, [projectId])
  return rows[0]?.found === true
}

const NEXT_GENERATION = statement({
  name: 'next-project-generation',
  text: `with known as (select id, generation from project where id = $1), changed as (
        update project p set generation = known.generation + 1 from known
        where p.id = known.id and ($2::integer is null or known.generation = $2))
      select generation from known`,
  params: [uuid, nullable(integer)],
  row: { generation: table.project.generation },
})

/**
 * Counts a change of its settings, under the project's scope lock. Returns the generation before, which stays if another
 * one is expected.
 */
export async function nextGeneration(client: Client, projectId: string, expected: number | null): Promise<number> {
  const { rows } = await NEXT_GENERATION.query(client, [projectId, expected])
  return rows[0]?.generation ?? 0
}

const SOME_ROOT = statement({
  name: 'some-root',
  text: `select id, name from object where project_id = $1 and parent_id is null order by kind, name limit 1`,
  params: [uuid],
  row: { id: table.object.id, name: table.object.name },
})

/** One of its roots, the first by name; null: it has no objects. */
export async function someRoot(
  client: Client,
  projectId: string,
): Promise<{ readonly id: string; readonly name: string } | null> {
  const { rows } = await SOME_ROOT.query(client, [projectId])
  return rows[0] ?? null
}

const REMOVE_PROJECT = statement({ name: 'remove-project', text: 'delete from project where id = $1', params: [uuid] })

/** Under the project's scope lock, once it has no objects. */
export async function removeProject(client: Client, projectId: string): Promise<void> {
  await REMOVE_PROJECT.query(client, [projectId])
}
