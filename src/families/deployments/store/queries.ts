import { causeOf, type FailureCause, type ObjectFailure } from '../../../core/errors.ts'
import { requireRight } from '../../../core/rights.ts'
import type { FamilyQuestions } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { array, boolean, integer, joined, json, nullable, required, text, uuid } from '../../../store/column-types.ts'
import { heldSql } from '../../../store/holds.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { loadTargetFacts } from '../../../store/targets.ts'
import type { Family } from '../../family.ts'
import { type Editor, grantsOfEditors } from '../../on-behalf.ts'
import { rights } from '../rights.ts'
import type { ReconcileVerdict } from '../rules/automatic-reconcile.ts'
import type { Exports, ItemExports } from '../rules/complete-installation.ts'
import { isReady, type ScopeArgs, type ScopeEntry } from '../rules/imports.ts'
import { type Importer, isBeingDeleted } from '../rules/sibling-imports.ts'
import type { Each } from '../rules/spec.ts'
import { lockNames, lockOwnNames } from './export-names.ts'
import { judgeInvariants } from './invariants.ts'
import { grantItemLimits } from './limits.ts'
import { findSnapshot } from './spec-snapshots.ts'

/** Queries of the family's rules. They only select and insert; the rules decide. */
export const questions: Family['questions'] = {
  dependencyCounts: (client, _root, parents) => each(parents, (id) => countEdges(client, DEPENDENCY_COUNTS, id)),
  dependentCounts: (client, _root, parents) => each(parents, (id) => countEdges(client, DEPENDENT_COUNTS, id)),
  containsOutdated: (client, _root, ids) => containsOutdated(client, ids),
  childCount: (client, _root, parents) => each(parents, (id) => countChildren(client, id)),
  treeItems: (client, _root, argsList) => each(argsList, ({ rootId }) => countItems(client, rootId)),
  failedChildren: (client, _root, parents) => each(parents, (id) => failedChildren(client, id)),
  itemExports: (client, _root, argsList) => each(argsList, (args) => itemExports(client, args)),
  rootScope: (client, _root, argsList) => each(argsList, (args) => readScope(client, args)),
  pinScope: (client, root, argsList) => each(argsList, (args) => pinScope(client, root, args)),
  specSnapshot: (client, _root, keys) => each(keys, (key) => findSnapshot(client, key)),
  targets: (client, _root, projectIds) => each(projectIds, (projectId) => loadTargetFacts(client, projectId)),
  mayReconcile: (client, _root, argsList) => each(argsList, (args) => judgeReconcile(client, args)),
  limits: grantItemLimits,
  invariants: (client, root, argsList) => each(argsList, (args) => judgeInvariants(client, root, args)),
  importers: (client, root, argsList) => each(argsList, ({ projectId }) => importers(client, root, projectId)),
}

/** Sequential, since they share a connection. */
async function each<A, T>(argsList: readonly A[], find: (args: A) => Promise<T>): Promise<readonly T[]> {
  const answers: T[] = []
  for (const args of argsList) answers.push(await find(args))
  return answers
}

interface ReconcileArgs {
  readonly projectId: string
  readonly editor: Editor
}
const IS_HELD = statement({
  name: 'automation-held',
  text: `select ${heldSql('$1::uuid')} as held`,
  params: [uuid],
  row: { held: boolean },
})

async function judgeReconcile(client: Client, { projectId, editor }: ReconcileArgs): Promise<ReconcileVerdict> {
  const { rows } = await IS_HELD.query(client, [projectId])
  const [grants = []] = await grantsOfEditors(client, [{ editor, projectId }])
  const refused = requireRight({ name: editor.name, actor: 'USER', grants }, rights.reconcile, projectId)
  return { isHeld: rows[0]?.held === true, missing: refused?.message ?? null }
}

const countOfEdges = (of: 'from_id' | 'to_id', per: 'from_id' | 'to_id') =>
  statement({
    name: `count-edges-${of}`,
    text: `select e.${of} as id, count(e.${per})::integer as n from object o
      cross join lateral (select * from edge where ${of} = o.id offset 0) e
      where o.parent_id = $1 group by e.${of}`,
    params: [uuid],
    row: { id: table.edge.fromId, n: integer },
  })
const DEPENDENCY_COUNTS = countOfEdges('from_id', 'to_id')
const DEPENDENT_COUNTS = countOfEdges('to_id', 'from_id')

async function countEdges(
  client: Client,
  counts: typeof DEPENDENCY_COUNTS,
  parentId: string,
): Promise<Record<string, number>> {
  const { rows } = await counts.query(client, [parentId])
  return Object.fromEntries(rows.map(({ id, n }) => [id, n]))
}

const COUNT_CHILDREN = statement({
  name: 'count-children',
  text: 'select count(*)::integer as n from object where parent_id = $1',
  params: [uuid],
  row: { n: integer },
})

async function countChildren(client: Client, parentId: string): Promise<number> {
  const { rows } = await COUNT_CHILDREN.query(client, [parentId])
  return rows[0]?.n ?? 0
}

const COUNT_ITEMS = statement({
  name: 'count-tree-items',
  text: `select count(*)::integer as n from object where root_id = $1 and kind = 'DEPLOY_ITEM'`,
  params: [uuid],
  row: { n: integer },
})

async function countItems(client: Client, rootId: string): Promise<number> {
  const { rows } = await COUNT_ITEMS.query(client, [rootId])
  return rows[0]?.n ?? 0
}

/** Installations that have succeeded although jobs passed over one below them, which was ignored. */
const CONTAINS_OUTDATED = statement({
  name: 'contains-outdated',
  text: `with recursive below(top, id, outdated) as (
      select a.id, a.id, false from unnest($1::uuid[]) as a(id)
      union all
      select b.top, o.id, o.generation <> o.observed_generation from below b
        cross join lateral (select * from object where parent_id = b.id offset 0) o
        join installation i on i.object_id = o.id where not i.ignored)
    select distinct top as id from below where outdated`,
  params: [array(uuid)],
  row: { id: table.object.id },
})

async function containsOutdated(client: Client, ids: readonly string[]): Promise<readonly boolean[]> {
  const { rows } = await CONTAINS_OUTDATED.query(client, [ids])
  const found = new Set(rows.map(({ id }) => id))
  return ids.map((id) => found.has(id))
}

const FAILED: readonly Phase[] = ['FAILED', 'ABORTED', 'DELETE_FAILED']
const FAILED_CHILDREN = statement({
  name: 'failed-children',
  text: `select o.id, o.kind, o.name, o.phase, s.error from object p join object o on o.parent_id = p.id
      left join object_status s on s.object_id = o.id
      where p.id = $1 and o.job_id = p.job_id and o.phase = any($2::phase[]) order by o.ordinal limit 10`,
  params: [uuid, array(table.phase)],
  row: {
    id: table.object.id,
    kind: table.object.kind,
    name: table.object.name,
    phase: table.object.phase,
    error: nullable(json<ObjectFailure>()),
  },
})

async function failedChildren(client: Client, parentId: string): Promise<readonly FailureCause[]> {
  const { rows } = await FAILED_CHILDREN.query(client, [parentId, FAILED])
  return rows.map(causeOf)
}

// The spec of an item is read for its entry alone, where there are lists.
const ITEM_EXPORTS = statement({
  name: 'item-exports',
  text: `select o.name, d.exports, case when $2 then (select s.spec -> 'each' from object_spec s where s.object_id = o.id) end as each
      from object o join deploy_item d on d.object_id = o.id where o.parent_id = $1 and d.exports is not null order by o.ordinal`,
  params: [uuid, boolean],
  row: {
    name: table.object.name,
    exports: required(table.deployItem.exports),
    each: nullable(json<Each>()),
  },
})

async function itemExports(
  client: Client,
  { executionId, isFanned }: FamilyQuestions['itemExports']['args'],
): Promise<readonly ItemExports[]> {
  const { rows } = await ITEM_EXPORTS.query(client, [executionId, isFanned])
  return rows.map(({ exports, ...own }) => ({ ...own, exports: exports as Exports }))
}

const SCOPE = statement({
  name: 'read-scope',
  text: `select n.name, d.name is not null as "exists", d.value,
    o.id, o.name as exporter, e.name is not null as declared, o.phase, o.generation, o.observed_generation as "observedGeneration",
    o.job_id as "jobId", o.finished_job_id as "finishedJobId", o.deletion_requested_at as "deletionRequestedAt",
    i.next_mode as "nextMode", i.next_deletion as "nextDeletion"
  from unnest($2::text[]) as n(name)
  left join data_object d on d.project_id = $1 and d.name = n.name
  left join root_export e on e.project_id = $1 and e.name = n.name
  left join object o on o.id = coalesce(e.exporter_id, d.exporter_id)
  left join installation i on i.object_id = o.id`,
  params: [uuid, array(text)],
  row: {
    name: text,
    exists: boolean,
    value: nullable(table.dataObject.value),
    id: nullable(table.object.id),
    exporter: joined(table.object.name),
    declared: boolean,
    phase: joined(table.object.phase),
    generation: joined(table.object.generation),
    observedGeneration: joined(table.object.observedGeneration),
    jobId: table.object.jobId,
    finishedJobId: table.object.finishedJobId,
    deletionRequestedAt: table.object.deletionRequestedAt,
    nextMode: table.installation.nextMode,
    nextDeletion: joined(table.installation.nextDeletion),
  },
})

async function readScope(client: Client, args: ScopeArgs): Promise<readonly ScopeEntry[]> {
  await lockNames(client, args.projectId, args.names)
  return await peekScope(client, args)
}

/** Without the locks that keep the exporters as they are. */
export async function peekScope(client: Client, { projectId, names }: ScopeArgs): Promise<readonly ScopeEntry[]> {
  const { rows } = await SCOPE.query(client, [projectId, names])
  return rows.map(({ name, exists, value, id, exporter, declared, ...state }) => ({
    name,
    exists,
    value,
    // A root that no longer exports the name is not waited for; only its data remains until the root is deleted.
    exporter:
      id === null ? null : { id, name: exporter, ready: !declared || isReady(state), going: isBeingDeleted(state) },
  }))
}

const PIN_EXPORTS = statement({
  name: 'pin-exports',
  text: `insert into export_pin (exporter_id, importer_id)
      select exporter_id, $3::uuid from (
        select exporter_id from root_export where project_id = $1 and name = any($2::text[])
        union
        select exporter_id from data_object where project_id = $1 and name = any($2::text[]) and exporter_id is not null
      ) e on conflict do nothing`,
  params: [uuid, array(text), uuid],
})

/** A pinned exporter cannot be deleted. A deletion that began before the pin is seen when the rule runs again. */
async function pinScope(client: Client, importerId: string, args: ScopeArgs): Promise<readonly ScopeEntry[]> {
  await lockNames(client, args.projectId, args.names)
  await PIN_EXPORTS.query(client, [args.projectId, args.names, importerId])
  return readScope(client, args)
}

const IMPORTERS = statement({
  name: 'importers',
  text: `select o.id, o.name, o.phase, o.job_id as "jobId", o.finished_job_id as "finishedJobId",
    o.deletion_requested_at as "deletionRequestedAt", i.next_deletion as "nextDeletion"
  from object o join installation i on i.object_id = o.id
  where o.id <> $1 and o.id in (
    select importer_id from export_pin where exporter_id = $1
    union select importer_id from root_import where project_id = $2 and name = any($3::text[])
  ) order by o.name`,
  params: [uuid, uuid, array(text)],
  row: {
    id: table.object.id,
    name: table.object.name,
    phase: table.object.phase,
    jobId: table.object.jobId,
    finishedJobId: table.object.finishedJobId,
    deletionRequestedAt: table.object.deletionRequestedAt,
    nextDeletion: table.installation.nextDeletion,
  },
})

async function importers(client: Client, exporterId: string, projectId: string): Promise<readonly Importer[]> {
  const names = await lockOwnNames(client, { id: exporterId, projectId })
  const { rows } = await IMPORTERS.query(client, [exporterId, projectId, names])
  return rows.map(({ id, name, ...state }) => ({ id, name, deleting: isBeingDeleted(state) }))
}
