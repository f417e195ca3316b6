import { objectFailure } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { TargetFacts } from '../../../core/target.ts'
import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import { chooseTarget } from './choose-target.ts'
import { deployItem, isCancelled } from './details.ts'
import { cancelMessage, failWithCauses, finish, orphansFirst, vanish, whyDeleted } from './finish.ts'
import { findCycle } from './graph.ts'
import type { ItemSpec } from './spec.ts'
import { takeOver } from './start-children.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    targets: { readonly args: string; readonly answer: readonly TargetFacts[] }
    childCount: { readonly args: string; readonly answer: number }
    /** Deploy items of the whole tree. `before`: what is written next, so that each answer is of its own moment. */
    treeItems: { readonly args: { readonly rootId: string; readonly before: string }; readonly answer: number }
  }
}

export interface ExecutionSpec {
  readonly deployItems: readonly ItemSpec[]
}

/** Items that are created or checked in one run of the rule, so that other objects are not delayed. */
const CHUNK = 500
/** The walk over the ready items is complete. */
const WALKED = 2 ** 31 - 1

/** An execution creates its items, triggers them in the order of their dependencies, and counts their results. */
export function decideExecution(execution: Node, slice: Slice): void {
  if (isFinished(execution.row)) return takeOver(execution, slice)
  switch (execution.row.phase) {
    case 'INIT':
      return init(execution, slice)
    case 'PROGRESSING':
      return progress(execution, slice)
    case 'COMPLETING':
      return finish(execution, slice, { to: 'SUCCEEDED' })
    case 'INIT_DELETE':
      return initDelete(execution, slice)
    case 'DELETING':
      return progressDeletion(execution, slice)
    default:
      return start(execution, slice)
  }
}

function start(execution: Node, slice: Slice): void {
  if (execution.row.deletionRequestedAt)
    slice.move(execution, 'INIT_DELETE', { reason: whyDeleted(slice.parent(execution)) })
  else {
    slice.patch(execution, { observedGeneration: execution.row.generation })
    slice.move(execution, 'INIT')
  }
  if (execution.error) slice.setError(execution, null)
  slice.setChildCounts(execution, { total: 0, untriggered: 0, open: 0, failed: 0, cursor: -1 })
  slice.touch(execution)
}

function init(execution: Node, slice: Slice): void {
  const { childCounts } = execution
  if (isCancelled(slice) && childCounts.open === 0) return abort(execution, slice)
  const spec = slice.spec(execution) as ExecutionSpec | undefined
  if (!spec) return
  if (childCounts.cursor < 0) return markOrphans(execution, spec, slice)
  const cleaned = orphansFirst(execution, slice)
  if (cleaned !== 'gone') return
  if (childCounts.cursor < spec.deployItems.length) return writeItems(execution, spec.deployItems, slice)
  const total = spec.deployItems.length
  slice.setChildCounts(execution, { total, untriggered: total, open: 0, failed: 0, cursor: -1 })
  slice.move(execution, 'PROGRESSING')
  slice.touch(execution)
}

/** Items that the spec no longer has, or has with another type or target, are deleted before any is created. */
function markOrphans(execution: Node, spec: ExecutionSpec, slice: Slice): void {
  const items = slice.children(execution)
  const targets = targetsOf(execution, spec.deployItems, slice)
  if (!items || !targets) return
  if (!targets.ok)
    return finish(execution, slice, { to: 'FAILED', error: objectFailure(slice, 'TARGET', targets.message) })
  const wanted = new Map(spec.deployItems.map((item) => [item.name, { ...item, target: targets.of.get(item) ?? null }]))
  const orphans = items.filter(
    (item) => item.row.deletionRequestedAt !== null || !isSameItem(item, wanted.get(item.row.name)),
  )
  const ids = new Set(orphans.map((item) => item.row.id))
  const waiting = new Map<Node, number>()
  for (const orphan of orphans) {
    const dependents = slice.neighbours(orphan, 'dependents')
    if (dependents) waiting.set(orphan, dependents.filter((d) => ids.has(d.row.id)).length)
  }
  if (waiting.size < orphans.length) return
  for (const [orphan, waitingFor] of waiting) {
    slice.patch(orphan, { deletionRequestedAt: orphan.row.deletionRequestedAt ?? slice.now, waitingFor })
    if (waitingFor === 0) slice.touch(orphan)
  }
  slice.setChildCounts(execution, { total: orphans.length, untriggered: orphans.length, open: 0, failed: 0, cursor: 0 })
  slice.touch(execution)
}

const isSameItem = (item: Node, wanted: ItemSpec | undefined): boolean =>
  wanted !== undefined && wanted.type === deployItem(item).type && wanted.target === deployItem(item).target

type Targets =
  | { readonly ok: true; readonly of: ReadonlyMap<ItemSpec, string | null> }
  | { readonly ok: false; readonly message: string }

/** The targets of items as the project has them now. Undefined: they are not known yet. */
function targetsOf({ row }: Node, items: readonly ItemSpec[], slice: Slice): Targets | undefined {
  const known = items.some(({ targetSelector }) => targetSelector) ? slice.ask('targets', row.projectId) : []
  if (!known) return undefined
  const of = new Map<ItemSpec, string | null>()
  for (const item of items) {
    const chosen = chooseTarget(item, known)
    if (!chosen.ok) return { ok: false, message: `The item ${item.name}: ${chosen.message}` }
    of.set(item, chosen.target)
  }
  return { ok: true, of }
}

function writeItems(execution: Node, all: readonly ItemSpec[], slice: Slice): void {
  const from = execution.childCounts.cursor
  const chunk = all.slice(from, from + CHUNK)
  const names = [...new Set(chunk.flatMap((item) => [item.name, ...item.dependsOn]))]
  const known = slice.childrenNamed(execution, 'DEPLOY_ITEM', names)
  // An item that is there keeps the target that was chosen when the job began.
  const created = known && chunk.filter(({ name }) => !known.has(name))
  const targets = created && targetsOf(execution, created, slice)
  if (!known || !targets) return
  if (!targets.ok)
    return finish(execution, slice, { to: 'FAILED', error: objectFailure(slice, 'TARGET', targets.message) })
  const fits = fitsIntoTree(execution, created, slice)
  if (fits === undefined) return
  if (!fits) return finish(execution, slice, { to: 'FAILED', error: objectFailure(slice, 'FOR_EACH', TOO_MANY) })
  const items = new Map(known)
  for (const [i, wanted] of chunk.entries()) {
    const item = items.get(wanted.name)
    if (item) updateItem(item, wanted, from + i, slice)
    else
      items.set(
        wanted.name,
        createItem(execution, { wanted, target: targets.of.get(wanted) ?? null, ordinal: from + i }, slice),
      )
  }
  for (const wanted of chunk) {
    const item = items.get(wanted.name)
    if (!item || (wanted.dependsOn.length === 0 && known.get(wanted.name) === undefined)) continue
    slice.setDependencies(
      item,
      wanted.dependsOn.flatMap((name) => items.get(name) ?? []),
    )
  }
  slice.setChildCounts(execution, { cursor: from + chunk.length })
  slice.touch(execution)
}

const TOO_MANY = `A tree may have at most ${LIMITS.deployItems.max} deploy items, and its lists make more.`
/** The items that a spec names were counted when it was written; those of lists are counted here. */
function fitsIntoTree(execution: Node, created: readonly ItemSpec[], slice: Slice): boolean | undefined {
  if (!created.some(({ each }) => each)) return true
  const before = `${execution.row.id} ${created[0]?.name}`
  const there = slice.ask('treeItems', { rootId: slice.root.row.id, before })
  return there === undefined ? undefined : there + created.length <= LIMITS.deployItems.max
}

interface NewItem {
  readonly wanted: ItemSpec
  readonly target: string | null
  readonly ordinal: number
}
function createItem(execution: Node, { wanted, target, ordinal }: NewItem, slice: Slice): Node {
  return slice.create(execution, {
    kind: 'DEPLOY_ITEM',
    name: wanted.name,
    ordinal,
    spec: wanted,
    details: { type: wanted.type, target },
    waitingFor: wanted.dependsOn.length,
  })
}

function updateItem(item: Node, wanted: ItemSpec, ordinal: number, slice: Slice): void {
  const { row } = item
  if (!sameJson(slice.spec(item), wanted)) {
    slice.setSpec(item, wanted)
    slice.patch(item, { generation: row.generation + 1 })
  }
  const waitingFor = wanted.dependsOn.length
  if (row.waitingFor !== waitingFor || row.ordinal !== ordinal) slice.patch(item, { waitingFor, ordinal })
}

/** The five classes of items: A succeeded, B failed, C unfinished, D to be triggered now, E waiting. */
function progress(execution: Node, slice: Slice): void {
  const { childCounts } = execution
  if (childCounts.open === 0 && isCancelled(slice)) return abort(execution, slice)
  if (childCounts.failed > 0) {
    if (childCounts.open > 0) return
    return failWithCauses(execution, slice, 'FAILED')
  }
  if (isCancelled(slice) || walkOn(execution, slice) !== 'walked') return
  if (childCounts.open > 0) return
  if (childCounts.untriggered > 0) return checkStuck(execution, slice, 'FAILED')
  const count = slice.ask('childCount', execution.row.id)
  // Its owner usually ends with it, so the owner's data is loaded too.
  const owner = slice.parent(execution)
  if (owner) slice.spec(owner)
  if (count === undefined) return
  if (count < childCounts.total) return failDisappeared(execution, slice, 'FAILED', count)
  slice.move(execution, 'COMPLETING')
  slice.touch(execution)
}

/** Triggers class D in order, a chunk at a time. */
function walkOn(execution: Node, slice: Slice): 'walked' | 'walking' {
  const { cursor } = execution.childCounts
  if (cursor === WALKED) return 'walked'
  const ready = slice.readyChildren(execution, cursor, CHUNK)
  if (!ready) return 'walking'
  for (const item of ready) slice.touch(item)
  const last = ready.at(-1)
  slice.setChildCounts(execution, { cursor: last && ready.length === CHUNK ? last.row.ordinal : WALKED })
  slice.touch(execution)
  return 'walking'
}

/** Nothing runs and items wait: either an item is ready, or none ever will be. */
function checkStuck(execution: Node, slice: Slice, to: 'FAILED' | 'DELETE_FAILED'): void {
  const ready = slice.readyChildren(execution, -1, 1)
  const items = ready?.length === 0 ? slice.children(execution) : undefined
  if (!items) return
  if (items.length < execution.childCounts.total) return failDisappeared(execution, slice, to, items.length)
  const edges = new Map<string, readonly string[]>()
  const side = to === 'FAILED' ? 'dependencies' : 'dependents'
  for (const item of items) {
    if (item.row.jobId === execution.row.jobId) continue
    const neighbours = slice.neighbours(item, side)
    if (!neighbours) return
    edges.set(
      item.row.name,
      neighbours.map((n) => n.row.name),
    )
  }
  const cycle = findCycle(edges)
  const why = cycle
    ? `they wait for each other: ${cycle.join(' → ')}`
    : `${[...edges.keys()].slice(0, 10).join(', ')} wait for what will not come`
  finish(execution, slice, { to, error: objectFailure(slice, 'STUCK', `No deploy item can continue: ${why}.`) })
}

function failDisappeared(execution: Node, slice: Slice, to: 'FAILED' | 'DELETE_FAILED', remaining: number): void {
  const message = `Only ${remaining} of ${execution.childCounts.total} deploy items still exist.`
  finish(execution, slice, { to, error: objectFailure(slice, 'ITEM_DISAPPEARED', message) })
}

function initDelete(execution: Node, slice: Slice): void {
  if (isCancelled(slice)) return abortDeletion(execution, slice)
  const items = slice.children(execution)
  const dependents = slice.ask('dependentCounts', execution.row.id)
  if (!items || !dependents) return
  for (const item of items) {
    const waitingFor = dependents[item.row.id] ?? 0
    slice.patch(item, { deletionRequestedAt: item.row.deletionRequestedAt ?? slice.now, waitingFor })
  }
  slice.setChildCounts(execution, { total: items.length, untriggered: items.length, open: 0, failed: 0, cursor: -1 })
  slice.move(execution, 'DELETING')
  slice.touch(execution)
}

function progressDeletion(execution: Node, slice: Slice): void {
  const { childCounts } = execution
  if (childCounts.total === 0) return vanish(execution, slice, { triggered: true })
  if (childCounts.open === 0 && isCancelled(slice)) return abortDeletion(execution, slice)
  if (childCounts.failed > 0) {
    if (childCounts.open > 0) return
    return failWithCauses(execution, slice, 'DELETE_FAILED')
  }
  if (isCancelled(slice) || walkOn(execution, slice) !== 'walked' || childCounts.open > 0) return
  checkStuck(execution, slice, 'DELETE_FAILED')
}

const abort = (execution: Node, slice: Slice): void =>
  finish(execution, slice, { to: 'ABORTED', error: objectFailure(slice, 'ABORTED', cancelMessage(slice)) })
const abortDeletion = (execution: Node, slice: Slice): void =>
  finish(execution, slice, { to: 'DELETE_FAILED', error: objectFailure(slice, 'ABORTED', cancelMessage(slice)) })
