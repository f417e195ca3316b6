import { invalidInput, type RefusalOf } from '../../../core/errors.ts'
import { array, nullable, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { LockedProject, LockedTree } from '../../family.ts'
import { rootNameTaken } from '../../root-name.ts'
import { findCycle } from '../rules/graph.ts'
import { scopeImports } from '../rules/scope.ts'
import type { InstallationSpec } from '../rules/spec.ts'

/** A project's scope: the exports and imports of its roots, and its data objects. Read and written under the project's lock. */

interface Declared {
  readonly id: string | null
  readonly name: string
  readonly spec: InstallationSpec
}

/** Refuses taken names and cycles between roots when a spec is written. */
export async function checkRootScope(
  project: LockedProject,
  root: Declared,
): Promise<RefusalOf<'ConflictError' | 'InvalidInputError'> | null> {
  const { id, name } = root
  const taken = id === null && (await rootNameTaken(project, { kind: 'INSTALLATION', name, what: 'an installation' }))
  return taken || ((await exportTaken(project, root)) ?? (await wouldCycle(project, root)))
}

const EXPORTS_TAKEN = statement({
  name: 'exports-taken',
  text: `select n.name, o.name as exporter from unnest($2::text[]) as n(name)
      left join root_export e on e.project_id = $1 and e.name = n.name
      left join data_object d on d.project_id = $1 and d.name = n.name
      left join object o on o.id = coalesce(e.exporter_id, d.exporter_id)
      where (e.name is not null or d.name is not null)
        and ($3::uuid is null or coalesce(e.exporter_id, d.exporter_id) is distinct from $3)`,
  params: [uuid, array(text), nullable(uuid)],
  row: { name: text, exporter: nullable(table.object.name) },
})

async function exportTaken(
  { client, projectId }: LockedProject,
  { id, spec }: Declared,
): Promise<RefusalOf<'InvalidInputError'> | null> {
  if (spec.exports.length === 0) return null
  const { rows } = await EXPORTS_TAKEN.query(client, [projectId, spec.exports.map(({ name }) => name), id])
  if (rows.length === 0) return null
  const taken = new Map(rows.map((row) => [row.name, row.exporter]))
  return invalidInput(
    spec.exports.flatMap(({ name }, i) => {
      if (!taken.has(name)) return []
      const exporter = taken.get(name)
      const message = exporter
        ? `${name} is exported by ${exporter} already`
        : `${name} is set as data of the project already`
      return [{ path: `input.spec.exports.${i}.name`, message }]
    }),
  )
}

const ROOT_DEPENDENCIES = statement({
  name: 'root-dependencies',
  text: `select o.name as importer, i.name, x.name as exporter from root_import i
      join object o on o.id = i.importer_id
      left join root_export e on e.project_id = i.project_id and e.name = i.name
      left join object x on x.id = e.exporter_id where i.project_id = $1`,
  params: [uuid],
  row: { importer: table.object.name, name: table.rootImport.name, exporter: nullable(table.object.name) },
})

async function wouldCycle(
  { client, projectId }: LockedProject,
  root: Declared,
): Promise<RefusalOf<'InvalidInputError'> | null> {
  const own = new Set(root.spec.exports.map(({ name }) => name))
  const selfish = root.spec.imports.findIndex(({ from, value }) => value === undefined && own.has(from))
  if (selfish >= 0) {
    return invalidInput([{ path: `input.spec.imports.${selfish}`, message: 'is exported by the installation itself' }])
  }
  if (own.size === 0 || root.spec.imports.length === 0) return null
  const { rows } = await ROOT_DEPENDENCIES.query(client, [projectId])
  const edges = new Map<string, string[]>()
  for (const { importer, name, exporter } of rows) {
    if (importer === root.name) continue
    const to = own.has(name) ? root.name : exporter === root.name ? null : exporter
    if (to) edges.set(importer, [...(edges.get(importer) ?? []), to])
  }
  edges.set(root.name, await exportersOf({ client, projectId }, root))
  const cycle = findCycle(edges)
  if (!cycle) return null
  return invalidInput([
    { path: 'input.spec.imports', message: `the installations depend on each other in a cycle: ${cycle.join(' → ')}` },
  ])
}

const EXPORTERS_OF = statement({
  name: 'exporters-of',
  text: `select distinct o.name from root_export e join object o on o.id = e.exporter_id
      where e.project_id = $1 and e.name = any($2::text[]) and e.exporter_id is distinct from $3`,
  params: [uuid, array(text), nullable(uuid)],
  row: { name: table.object.name },
})

async function exportersOf(
  { client, projectId }: Pick<LockedProject, 'client' | 'projectId'>,
  { id, spec }: Declared,
): Promise<string[]> {
  const { rows } = await EXPORTERS_OF.query(client, [projectId, scopeImports(spec.imports).map(({ from }) => from), id])
  return rows.map(({ name }) => name)
}

/** Writes the root's exports and imports after its object. */
export function declareScope({ slice, isNew }: LockedTree, spec: InstallationSpec): void {
  if (isNew && spec.exports.length === 0 && spec.imports.length === 0) return
  slice.effect('declareScope', {
    exports: spec.exports.map(({ name }) => name),
    imports: [...new Set(scopeImports(spec.imports).map(({ from }) => from))],
  })
}

const IMPORTERS_OF = statement({
  name: 'importers-of',
  text: 'select importer_id as id from root_import where project_id = $1 and name = $2 order by importer_id',
  params: [uuid, text],
  row: { id: table.rootImport.importerId },
})

export async function importersOf({ client, projectId }: LockedProject, name: string): Promise<readonly string[]> {
  const { rows } = await IMPORTERS_OF.query(client, [projectId, name])
  return rows.map(({ id }) => id)
}

export interface KnownData {
  /** Null: there is none that a user has set. */
  readonly updatedAt: Date | null
  readonly exporterId: string | null
}
const FIND_DATA_OBJECT = statement({
  name: 'find-data-object',
  text: `select d.updated_at as "updatedAt", coalesce(e.exporter_id, d.exporter_id) as "exporterId"
      from (select $2::text as name) n
      left join data_object d on d.project_id = $1 and d.name = n.name
      left join root_export e on e.project_id = $1 and e.name = n.name`,
  params: [uuid, text],
  row: { updatedAt: nullable(table.dataObject.updatedAt), exporterId: nullable(uuid) },
})

/** Without the value, which is large. */
export async function findDataObject({ client, projectId }: LockedProject, name: string): Promise<KnownData> {
  const { rows } = await FIND_DATA_OBJECT.query(client, [projectId, name])
  return rows[0] ?? { updatedAt: null, exporterId: null }
}
const WRITE_DATA_OBJECT = statement({
  name: 'write-data-object',
  text: `insert into data_object as d (project_id, name, value, updated_at) values ($1, $2, $3::text::jsonb, $4)
      on conflict (project_id, name) do update set value = excluded.value, updated_at = excluded.updated_at
        where d.value is distinct from excluded.value
      returning name`,
  params: [uuid, text, text, timestamptz],
  row: { name: table.dataObject.name },
})

/** False: it has this value already. Postgres compares them, so that a large one is not read. */
export async function writeDataObject(
  { client, projectId }: LockedProject,
  name: string,
  value: unknown,
  now: Date,
): Promise<boolean> {
  const { rows } = await WRITE_DATA_OBJECT.query(client, [projectId, name, JSON.stringify(value), now])
  return rows.length > 0
}
const REMOVE_DATA_OBJECT = statement({
  name: 'remove-data-object',
  text: 'delete from data_object where project_id = $1 and name = $2',
  params: [uuid, text],
})

export async function removeDataObject({ client, projectId }: LockedProject, name: string): Promise<void> {
  await REMOVE_DATA_OBJECT.query(client, [projectId, name])
}
