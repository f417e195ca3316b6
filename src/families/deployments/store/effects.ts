import { GATE } from '../../../core/deployers/gate.ts'
import { type Node, WORK_STATE } from '../../../core/tree.ts'
import { awaitAll } from '../../../store/await-all.ts'
import type { Client } from '../../../store/client.ts'
import { array, nullable, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { Family } from '../../family.ts'
import { lockOwnNames } from './export-names.ts'
import { recordRun } from './runs.ts'
import { dropSnapshot } from './spec-snapshots.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    declareScope: DeclaredScope
  }
}

const DROP_EXPORTS = statement({
  name: 'drop-exports',
  text: 'delete from data_object where exporter_id = $1 and project_id = $2',
  params: [uuid, uuid],
})

/** Effects of a root on other trees. They only enqueue wake requests, since each tree is decided under its own lock. */
export const effects: Family['effects'] = {
  succeeded: (client, root, exports, now) => publish(client, root, exports, now),
  declareScope: (client, root, args) => declare(client, root, args),
  ready: async (client, root) => {
    const [, importerRoots] = await awaitAll([lockOwnNames(client, root.row), wakeImporters(client, root, null)])
    return importerRoots
  },
  rootGone: async (client, root) => {
    await lockOwnNames(client, root.row)
    const importers = await wakeImporters(client, root, null)
    const exporters = await wakeExporters(client, root)
    await DROP_EXPORTS.query(client, at(root))
    return [...importers, ...exporters]
  },
  // Roots that it imports from have waited for it to be gone, and those that import from it for either end.
  deletionFailed: async (client, root) =>
    (await awaitAll([wakeExporters(client, root), wakeImporters(client, root, null)])).flat(),
  runEnded: async (client, root, args, now, pipeline) => {
    pipeline(recordRun(client, root, args, now))
    return []
  },
  endWaits: wakeWaits,
  editedJobEnded: async (client, root) => {
    await dropSnapshot(client, root.row)
    return []
  },
}

/** Items at which no agent is at work: between two attempts, or at a gate. In parts that one transaction takes. */
const WAKE_WAITS = statement({
  name: 'wake-waits',
  text: `insert into wake (root_id, object_ids)
  select w.root_id, array_agg(w.object_id) from (
    select root_id, object_id, row_number() over (order by object_id) / 1000 as part from agent_work
    where root_id = $1 and is_open and (state = ${WORK_STATE.OFFERED} and picked_up_at is not null or type = '${GATE}')
  ) w group by w.root_id, w.part returning root_id`,
  params: [uuid],
  row: { root_id: table.wake.rootId },
})

async function wakeWaits(client: Client, { row }: Node): Promise<readonly string[]> {
  const { rows } = await WAKE_WAITS.query(client, [row.id])
  return rows.map(({ root_id }) => root_id)
}

const at = (root: Node): [id: string, projectId: string] => [root.row.id, root.row.projectId]

interface DeclaredScope {
  readonly exports: readonly string[]
  readonly imports: readonly string[]
}

/** Wakes the roots that import what is not exported any more, since they may wait for this root. */
const UNDECLARE_EXPORTS = statement({
  name: 'undeclare-exports',
  text: `with gone as (delete from root_export where exporter_id = $1 returning name)
  insert into wake (root_id, object_ids)
  select i.importer_id, array[i.importer_id] from (
    select distinct i.importer_id from gone join root_import i on i.project_id = $2 and i.name = gone.name
    where not (gone.name = any($3::text[])) and i.importer_id <> $1
  ) i returning root_id`,
  params: [uuid, uuid, array(text)],
  row: { root_id: table.wake.rootId },
})

const UNDECLARE_IMPORTS = statement({
  name: 'undeclare-imports',
  text: 'delete from root_import where importer_id = $1',
  params: [uuid],
})

const declaration = (kind: 'export' | 'import', role: 'exporter_id' | 'importer_id') =>
  statement({
    name: `declare-${kind}s`,
    text: `insert into root_${kind} (project_id, name, ${role}) select $2, u.name, $1 from unnest($3::text[]) as u(name)`,
    params: [uuid, uuid, array(text)],
  })
const DECLARE_EXPORTS = declaration('export', 'exporter_id')
const DECLARE_IMPORTS = declaration('import', 'importer_id')

/** Runs after the root's row is written, since the names refer to it. */
async function declare(client: Client, root: Node, { exports, imports }: DeclaredScope): Promise<readonly string[]> {
  const [{ rows }] = await awaitAll([
    UNDECLARE_EXPORTS.query(client, [...at(root), exports]),
    UNDECLARE_IMPORTS.query(client, [root.row.id]),
    exports.length > 0 && DECLARE_EXPORTS.query(client, [...at(root), exports]),
    imports.length > 0 && DECLARE_IMPORTS.query(client, [...at(root), imports]),
  ])
  return rows.map(({ root_id }) => root_id)
}

/** Deletes data that is not exported any more, and pins of roots from which nothing is imported any more. */
const DROP_OLD = statement({
  name: 'drop-old',
  text: `with pins as (
    delete from export_pin p where p.importer_id = $1 and p.exporter_id not in (
      select e.exporter_id from root_import i
        join root_export e on e.project_id = i.project_id and e.name = i.name where i.importer_id = $1)
  )
  delete from data_object where exporter_id = $1 and project_id = $2 and not (name = any($3::text[]))`,
  params: [uuid, uuid, array(text)],
})

const PUBLISH_EXPORTS = statement({
  name: 'publish-exports',
  text: `insert into data_object (project_id, name, value, exporter_id, updated_at)
          select $2, u.name, u.value::jsonb, $1, $5 from unnest($3::text[], $4::text[]) as u(name, value)
          on conflict (project_id, name) do update
            set value = excluded.value, exporter_id = excluded.exporter_id, updated_at = excluded.updated_at`,
  params: [uuid, uuid, array(text), array(text), timestamptz],
})

/** Replaces the exports of the last success in one step. */
async function publish(
  client: Client,
  root: Node,
  exports: Readonly<Record<string, unknown>>,
  now: Date,
): Promise<readonly string[]> {
  const names = Object.keys(exports)
  const [, importerRoots] = await awaitAll([
    lockOwnNames(client, root.row),
    wakeImporters(client, root, 'scope'),
    DROP_OLD.query(client, [...at(root), names]),
    names.length > 0 &&
      PUBLISH_EXPORTS.query(client, [
        ...at(root),
        names,
        names.map((name) => JSON.stringify(exports[name] ?? null)),
        now,
      ]),
  ])
  return importerRoots
}

/** Wakes the importers, for this reason, and the roots that an invariant lets wait for a success of this one. */
const WAKE_IMPORTERS = statement({
  name: 'wake-importers',
  text: `insert into wake (root_id, object_ids, reason)
  select i.id, array[i.id], i.reason from (
    select i.importer_id as id, $3::text as reason from root_import i
    where i.project_id = $2 and i.importer_id <> $1 and i.name in (
      select name from root_export where exporter_id = $1
      union select name from data_object where project_id = $2 and exporter_id = $1)
    union select root_id, null from invariant_wait where project_id = $2 and name = $4
  ) i returning root_id`,
  params: [uuid, uuid, nullable(text), text],
  row: { root_id: table.wake.rootId },
})
async function wakeImporters(client: Client, root: Node, reason: string | null): Promise<readonly string[]> {
  const { rows } = await WAKE_IMPORTERS.query(client, [...at(root), reason, root.row.name])
  return rows.map(({ root_id }) => root_id)
}

const WAKE_EXPORTERS = statement({
  name: 'wake-exporters',
  text: `insert into wake (root_id, object_ids)
  select e.id, array[e.id] from (
    select exporter_id as id from export_pin where importer_id = $1
    union
    select e.exporter_id from root_import i join root_export e on e.project_id = i.project_id and e.name = i.name
      where i.importer_id = $1 and i.project_id = $2
  ) e returning root_id`,
  params: [uuid, uuid],
  row: { root_id: table.wake.rootId },
})
async function wakeExporters(client: Client, root: Node): Promise<readonly string[]> {
  const { rows } = await WAKE_EXPORTERS.query(client, at(root))
  return rows.map(({ root_id }) => root_id)
}
