import type { FailureCause, ObjectFailure } from '../../core/errors.ts'
import type { ObjectKind, Phase } from '../../core/vocabulary.ts'
import type { Client } from '../../store/client.ts'
import type { Family } from '../family.ts'
import { lockNames, lockOwnNames } from './export-names.ts'
import { type ExporterState, isReady, type ScopeEntry } from './imports.ts'
import type { SnapshotKey } from './observed-spec.ts'
import { type Importer, type ImporterState, isBeingDeleted } from './sibling-imports.ts'
import { findSnapshot } from './spec-snapshots.ts'

/** The family's own questions to the store. They select and add; what follows from it is decided elsewhere. */
export const questions: Family['questions'] = {
  dependencyCounts: (client, _root, parents) =>
    each(parents, (id) => countEdges(client, id as string, 'from_id', 'to_id')),
  dependentCounts: (client, _root, parents) =>
    each(parents, (id) => countEdges(client, id as string, 'to_id', 'from_id')),
  childCount: (client, _root, parents) => each(parents, (id) => countChildren(client, id as string)),
  failedChildren: (client, _root, parents) => each(parents, (id) => failedChildren(client, id as string)),
  itemExports: (client, _root, parents) => each(parents, (id) => itemExports(client, id as string)),
  rootScope: (client, _root, asked) => each(asked, (args) => readScope(client, args as ScopeArgs)),
  pinScope: (client, root, asked) => each(asked, (args) => pinScope(client, root, args as ScopeArgs)),
  specSnapshot: (client, _root, asked) => each(asked, (key) => findSnapshot(client, key as SnapshotKey)),
  importers: (client, root, asked) => each(asked, (args) => importers(client, root, (args as ScopeArgs).projectId)),
}

/** One after the other: they share a connection. */
async function each<T>(asked: readonly unknown[], find: (args: unknown) => Promise<T>): Promise<readonly T[]> {
  const answers: T[] = []
  for (const args of asked) answers.push(await find(args))
  return answers
}

interface ScopeArgs {
  readonly projectId: string
  readonly names: readonly string[]
}

async function countEdges(client: Client, parentId: string, of: string, per: string): Promise<Record<string, number>> {
  const { rows } = await client.query<{ id: string; n: number }>({
    name: `count-edges-${of}`,
    text: `select e.${of} as id, count(e.${per})::integer as n from object o
      cross join lateral (select * from edge where ${of} = o.id offset 0) e
      where o.parent_id = $1 group by e.${of}`,
    values: [parentId],
  })
  return Object.fromEntries(rows.map(({ id, n }) => [id, n]))
}

async function countChildren(client: Client, parentId: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>({
    name: 'count-children',
    text: 'select count(*)::integer as n from object where parent_id = $1',
    values: [parentId],
  })
  return rows[0]?.n ?? 0
}

const FAILED: readonly Phase[] = ['FAILED', 'ABORTED', 'DELETE_FAILED']
async function failedChildren(client: Client, parentId: string): Promise<readonly FailureCause[]> {
  const { rows } = await client.query<{
    id: string
    kind: ObjectKind
    name: string
    phase: Phase
    error: ObjectFailure | null
  }>({
    name: 'failed-children',
    text: `select o.id, o.kind, o.name, o.phase, s.error from object p join object o on o.parent_id = p.id
      left join object_status s on s.object_id = o.id
      where p.id = $1 and o.job_id = p.job_id and o.phase = any($2::phase[]) order by o.ordinal limit 10`,
    values: [parentId, FAILED],
  })
  return rows.map(({ id, kind, name, phase, error }) => ({
    objectId: id,
    kind,
    name,
    code: error?.code ?? phase,
    message: error?.message ?? `It is ${phase}.`,
  }))
}

async function itemExports(client: Client, executionId: string): Promise<Record<string, unknown>> {
  const { rows } = await client.query<{ name: string; exports: unknown }>({
    name: 'item-exports',
    text: `select o.name, d.exports from object o join deploy_item d on d.object_id = o.id
      where o.parent_id = $1 and d.exports is not null`,
    values: [executionId],
  })
  return Object.fromEntries(rows.map(({ name, exports }) => [name, exports]))
}

const SCOPE = `select n.name, d.name is not null as "exists", d.value,
    o.id, o.name as exporter, e.name is not null as declared, o.phase, o.generation, o.observed_generation as "observedGeneration",
    o.job_id as "jobId", o.finished_job_id as "finishedJobId", o.deletion_requested_at as "deletionRequestedAt",
    i.next_mode as "nextMode", i.next_deletion as "nextDeletion"
  from unnest($2::text[]) as n(name)
  left join data_object d on d.project_id = $1 and d.name = n.name
  left join root_export e on e.project_id = $1 and e.name = n.name
  left join object o on o.id = coalesce(e.exporter_id, d.exporter_id)
  left join installation i on i.object_id = o.id`

async function readScope(client: Client, { projectId, names }: ScopeArgs): Promise<readonly ScopeEntry[]> {
  type Row = ExporterState & {
    name: string
    exists: boolean
    value: unknown
    id: string | null
    exporter: string
    declared: boolean
  }
  await lockNames(client, projectId, names)
  const { rows } = await client.query<Row>({ name: 'read-scope', text: SCOPE, values: [projectId, names] })
  return rows.map(({ name, exists, value, id, exporter, declared, ...state }) => ({
    name,
    exists,
    value,
    // A root that has given up the name is not waited for: what is left of it is mere data until it goes.
    exporter:
      id === null ? null : { id, name: exporter, ready: !declared || isReady(state), going: isBeingDeleted(state) },
  }))
}

/** What is pinned now cannot be deleted from under the importer; what was being deleted before is seen in the new look. */
async function pinScope(client: Client, importerId: string, args: ScopeArgs): Promise<readonly ScopeEntry[]> {
  await lockNames(client, args.projectId, args.names)
  await client.query({
    name: 'pin-exports',
    text: `insert into export_pin (exporter_id, importer_id)
      select exporter_id, $3::uuid from (
        select exporter_id from root_export where project_id = $1 and name = any($2::text[])
        union
        select exporter_id from data_object where project_id = $1 and name = any($2::text[]) and exporter_id is not null
      ) e on conflict do nothing`,
    values: [args.projectId, args.names, importerId],
  })
  return readScope(client, args)
}

const IMPORTERS = `select o.id, o.name, o.phase, o.job_id as "jobId", o.finished_job_id as "finishedJobId",
    o.deletion_requested_at as "deletionRequestedAt", i.next_deletion as "nextDeletion"
  from object o join installation i on i.object_id = o.id
  where o.id <> $1 and o.id in (
    select importer_id from export_pin where exporter_id = $1
    union select importer_id from root_import where project_id = $2 and name = any($3::text[])
  ) order by o.name`

async function importers(client: Client, exporterId: string, projectId: string): Promise<readonly Importer[]> {
  const names = await lockOwnNames(client, { id: exporterId, projectId })
  const { rows } = await client.query<ImporterState & { id: string; name: string }>({
    name: 'importers',
    text: IMPORTERS,
    values: [exporterId, projectId, names],
  })
  return rows.map(({ id, name, ...state }) => ({ id, name, deleting: isBeingDeleted(state) }))
}
