import type { Work } from '../core/tree.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import type { RootLock } from '../store/queue.ts'
import { RevisionConflict } from '../store/transition.ts'
import type { EngineContext } from './context.ts'
import type { Attempted, Outcome } from './lane.ts'
import { lockTree } from './lock-tree.ts'
import type { TreeSlice } from './slice/tree-slice.ts'
import type { Transaction } from './transaction.ts'

/** Bounds the phase writes of one transaction, so that a large tree does not delay the others. */
export const BUDGET = 2_000

/** An agent's claims or reports on one tree. */
export interface TreeTask<T> {
  /** Objects to load. */
  readonly ids: readonly string[]
  /** Most of the objects end, so their dependents are loaded too. */
  readonly ends: boolean
  /** True if the cached state of the work is usable. */
  canRecall(work: Work, now: Date): boolean
  /** Reads and locks what `apply` needs besides the tree. */
  prepare?(slice: TreeSlice, tx: Transaction): Promise<void>
  apply(slice: TreeSlice, tx: Transaction): T
}
/** Null: the tree is gone. */
export type Ran<T> = { readonly value: T } | null

export interface TreeTasks<T> {
  readonly rootId: string
  readonly tasks: readonly TreeTask<T>[]
}
export interface Attempt {
  readonly failures: number
  /** The rules decide in the same transaction; otherwise the engine lets them later. */
  readonly decidesInline: boolean
}
export const FIRST_ATTEMPT: Attempt = { failures: 0, decidesInline: true }

interface ApplyOptions extends Attempt {
  readonly mayWait: boolean
  /** Absent: it is taken. */
  readonly lock?: Promise<RootLock | 'gone' | 'locked'>
  /** Phase writes of this tree; absent: as many as a transaction may do. */
  readonly budget?: number
}

/** Locks the tree, runs the tasks on it and lets its rules decide. */
export async function applyTasks<T>(
  tx: Transaction,
  context: EngineContext,
  { rootId, tasks }: TreeTasks<T>,
  { failures, decidesInline, mayWait, lock, budget = BUDGET }: ApplyOptions,
): Promise<readonly Attempted<Ran<T>>[]> {
  // Only after connecting: a new connection may lead to another copy of the database, which clears the cache.
  const recalled = decidesInline && failures === 0 ? recall(context, rootId, tasks) : NOTHING_RECALLED
  const { kinds, work } = context
  const mayRelease = (id: string) => {
    const known = recalled.get(id)
    return !known || !kinds.family(known.row.kind).isUncounted
  }
  const tree = await lockTree(tx, context, rootId, {
    ids: tasks.flatMap(({ ids }) => ids),
    ending: decidesInline ? tasks.flatMap(({ ends, ids }) => (ends ? ids.filter(mayRelease) : [])) : [],
    recalled,
    recalledRoot: recalled.size > 0 ? work.root(rootId) : undefined,
    specs: context.specs.of(rootId),
    mayWait,
    lock,
  })
  if (tree === 'locked') return tasks.map(() => tree)
  if (tree === 'gone') return tasks.map(() => ({ value: null }))
  checkRecalled(tasks, recalled, tree.slice.now)
  for (const task of tasks) if (task.prepare) await task.prepare(tree.slice, tx)
  const outcomes = tasks.map((task) => applyTask(task, tree.slice, tx))
  if (decidesInline) await tree.decide(budget)
  else await tree.deferDecisions()
  return outcomes
}

const NOTHING_RECALLED: ReadonlyMap<string, LoadedNode> = new Map()

/** A cached object is usable only if every task that needs it accepts it. */
function recall(
  { system, work: cache }: EngineContext,
  rootId: string,
  tasks: readonly TreeTask<unknown>[],
): ReadonlyMap<string, LoadedNode> {
  const byId = new Map<string, TreeTask<unknown>[]>()
  for (const task of tasks) for (const id of task.ids) byId.set(id, [...(byId.get(id) ?? []), task])
  const now = system.now()
  const canRecall = (id: string, work: Work) => byId.get(id)?.every((task) => task.canRecall(work, now)) ?? false
  return cache.find(rootId, byId.keys(), canRecall)
}

function applyTask<T>(task: TreeTask<T>, slice: TreeSlice, tx: Transaction): Outcome<Ran<T>> {
  try {
    return { value: { value: task.apply(slice, tx) } }
  } catch (error) {
    return { error }
  }
}

/** Checks recalled work again at the time of the lock, since a lease may have ended meanwhile. */
function checkRecalled(
  tasks: readonly TreeTask<unknown>[],
  recalled: ReadonlyMap<string, LoadedNode>,
  now: Date,
): void {
  if (recalled.size === 0) return
  for (const task of tasks)
    for (const id of task.ids) {
      const work = recalled.get(id)?.work
      if (work && !task.canRecall(work, now)) throw new RevisionConflict(recalled.size, 0)
    }
}
