import type { Node } from '../../core/tree.ts'
import { awaitAll } from '../../store/await-all.ts'
import type { Client } from '../../store/client.ts'
import type { Family } from '../family.ts'
import { lockOwnNames } from './export-names.ts'
import { dropSnapshot } from './spec-snapshots.ts'

/** What the end of a root means to other trees. They are only left word: each is looked at under its own lock. */
export const effects: Family['effects'] = {
  succeeded: (client, root, exports, now) => publish(client, root, exports as Readonly<Record<string, unknown>>, now),
  declareScope: async (client, root, args) => {
    await declare(client, root, args as { exports: readonly string[]; imports: readonly string[] })
    return []
  },
  ready: async (client, root) => {
    const [, woken] = await awaitAll([lockOwnNames(client, root.row), wakeImporters(client, root, null)])
    return woken
  },
  rootGone: async (client, root) => {
    await lockOwnNames(client, root.row)
    const importers = await wakeImporters(client, root, null)
    const exporters = await wakeExporters(client, root)
    await client.query({
      name: 'drop-exports',
      text: 'delete from data_object where exporter_id = $1 and project_id = $2',
      values: at(root),
    })
    return [...importers, ...exporters]
  },
  deletionFailed: (client, root) => wakeExporters(client, root),
  editedJobEnded: async (client, root) => {
    await dropSnapshot(client, root.row)
    return []
  },
}

const at = (root: Node): unknown[] => [root.row.id, root.row.projectId]

/** Runs after the root's row is written: the names hang on it. */
async function declare(
  client: Client,
  root: Node,
  { exports, imports }: { exports: readonly string[]; imports: readonly string[] },
): Promise<void> {
  const insert = (table: 'export' | 'import', role: 'exporter_id' | 'importer_id', names: readonly string[]) =>
    names.length > 0 &&
    client.query({
      name: `declare-${table}s`,
      text: `insert into root_${table} (project_id, name, ${role}) select $2, u.name, $1 from unnest($3::text[]) as u(name)`,
      values: [...at(root), names],
    })
  await awaitAll([
    client.query({
      name: 'undeclare-exports',
      text: 'delete from root_export where exporter_id = $1',
      values: [root.row.id],
    }),
    client.query({
      name: 'undeclare-imports',
      text: 'delete from root_import where importer_id = $1',
      values: [root.row.id],
    }),
    insert('export', 'exporter_id', exports),
    insert('import', 'importer_id', imports),
  ])
}

/** Data of names that are not exported any more, and the hold on roots of which nothing is taken in any more. */
const DROP_OLD = `with pins as (
    delete from export_pin p where p.importer_id = $1 and p.exporter_id not in (
      select e.exporter_id from root_import i
        join root_export e on e.project_id = i.project_id and e.name = i.name where i.importer_id = $1)
  )
  delete from data_object where exporter_id = $1 and project_id = $2 and not (name = any($3::text[]))`

/** The exports replace those of the last success, all at once. */
async function publish(
  client: Client,
  root: Node,
  exports: Readonly<Record<string, unknown>>,
  now: Date,
): Promise<readonly string[]> {
  const names = Object.keys(exports)
  const [, woken] = await awaitAll([
    lockOwnNames(client, root.row),
    wakeImporters(client, root, 'scope'),
    client.query({ name: 'drop-old', text: DROP_OLD, values: [...at(root), names] }),
    names.length > 0 &&
      client.query({
        name: 'publish-exports',
        text: `insert into data_object (project_id, name, value, exporter_id, updated_at)
          select $2, u.name, u.value::jsonb, $1, $5 from unnest($3::text[], $4::text[]) as u(name, value)
          on conflict (project_id, name) do update
            set value = excluded.value, exporter_id = excluded.exporter_id, updated_at = excluded.updated_at`,
        values: [...at(root), names, names.map((name) => JSON.stringify(exports[name] ?? null)), now],
      }),
  ])
  return woken
}

const WAKE_IMPORTERS = `insert into wake (root_id, object_ids, reason)
  select i.importer_id, array[i.importer_id], $3::text from (
    select distinct i.importer_id from root_import i
    where i.project_id = $2 and i.importer_id <> $1 and i.name in (
      select name from root_export where exporter_id = $1
      union select name from data_object where project_id = $2 and exporter_id = $1)
  ) i returning root_id`
async function wakeImporters(client: Client, root: Node, reason: string | null): Promise<readonly string[]> {
  const { rows } = await client.query<{ root_id: string }>({
    name: 'wake-importers',
    text: WAKE_IMPORTERS,
    values: [...at(root), reason],
  })
  return rows.map(({ root_id }) => root_id)
}

const WAKE_EXPORTERS = `insert into wake (root_id, object_ids)
  select e.id, array[e.id] from (
    select exporter_id as id from export_pin where importer_id = $1
    union
    select e.exporter_id from root_import i join root_export e on e.project_id = i.project_id and e.name = i.name
      where i.importer_id = $1 and i.project_id = $2
  ) e returning root_id`
async function wakeExporters(client: Client, root: Node): Promise<readonly string[]> {
  const { rows } = await client.query<{ root_id: string }>({
    name: 'wake-exporters',
    text: WAKE_EXPORTERS,
    values: at(root),
  })
  return rows.map(({ root_id }) => root_id)
}
