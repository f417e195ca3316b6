import { following } from '../core/clock-offset.ts'
import type { Evaluated } from '../core/tree.ts'
import type { NewRoot } from '../families/family.ts'
import { awaitAll } from '../store/await-all.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import { lockRoot, type RootLock } from '../store/queue.ts'
import { RevisionConflict } from '../store/transition.ts'
import { NO_SPECS, type SpecsOfTree } from './cache/spec-cache.ts'
import type { EngineContext } from './context.ts'
import { take, takeNeighbours } from './load.ts'
import { LockedTree } from './locked-tree.ts'
import { TreeSlice } from './slice/tree-slice.ts'
import { TrackedObject } from './tracked-object.ts'
import type { Transaction } from './transaction.ts'

const NOTHING_RECALLED: ReadonlyMap<string, LoadedNode> = new Map()
const NOT_EVALUATED: ReadonlyMap<string, Evaluated> = new Map()

export interface LockOptions {
  /** Objects to load besides the root. */
  readonly ids?: readonly string[]
  /** Objects whose dependents the rules are likely to need. */
  readonly ending?: readonly string[]
  /** Objects of `ids` from the cache, which are not read. */
  readonly recalled?: ReadonlyMap<string, LoadedNode>
  /** The root from the cache. It is not read if nothing else is: the lock shows whether it has changed. */
  readonly recalledRoot?: LoadedNode | undefined
  /** The lock, if it was taken together with those of other trees; what is read of the tree is sent after it. */
  readonly lock?: Promise<RootLock | 'gone' | 'locked'> | undefined
  /** Waits for another transaction that has the lock, if few others do, instead of answering 'locked'. */
  readonly mayWait?: boolean
  readonly evaluated?: ReadonlyMap<string, Evaluated>
  readonly specs?: SpecsOfTree
}

/**
 * Locks the tree's root row and loads the objects. The lock is a statement of its own, so the others see the tree as it
 * is under the lock although all are pipelined. Writes of one tree are therefore serial.
 */
export async function lockTree(
  tx: Transaction,
  context: EngineContext,
  rootId: string,
  options: LockOptions = {},
): Promise<LockedTree | 'gone' | 'locked'> {
  const { ids = [], ending = [], recalled = NOTHING_RECALLED, recalledRoot, mayWait = false } = options
  const { evaluated = NOT_EVALUATED, specs = NO_SPECS } = options
  const { client } = tx
  const { kinds, system } = context
  const wanted = new Set([rootId, ...ids.map((id) => recalled.get(id)?.row.parentId ?? id)])
  const known = wanted.size === 1 ? recalledRoot : undefined
  const locking =
    options.lock ??
    context.lockWaits.during(mayWait, (waits) =>
      lockRoot(client, rootId, { skipLocked: !waits, time: system.fixedTime }),
    )
  tx.trace?.of(rootId)
  const [lock, loaded, dependents] = await awaitAll([
    tx.trace ? tx.trace.locking(locking) : locking,
    known ? [known] : kinds.rows.nodes(client, rootId, [...wanted]),
    ending.length > 0 && kinds.rows.edges(client, 'dependents', ending),
  ])
  if (typeof lock === 'string') return lock
  const { projectName, row, isPaused, hasInvariants } = lock
  if (known && known.row.revision !== row.revision) throw new RevisionConflict(1, 0)
  // A new root has the time of its process, which may be ahead of the database.
  const now = new Date(following(row.updatedAt.getTime(), lock.at.getTime()))
  const root = TrackedObject.fresh(row)
  const slice = new TreeSlice({ ...context, projectName, root, now, isPaused, hasInvariants, evaluated, specs })
  slice.nodes.clear()
  take(slice, kinds, loaded)
  const loadedRoot = slice.nodes.get(rootId)
  if (!loadedRoot) return 'gone'
  slice.root = loadedRoot
  takeRecalled(slice, context, recalled)
  if (dependents) await takeNeighbours(client, slice, kinds, 'dependents', dependents)
  const { wakeAt, failures } = lock
  return new LockedTree(tx, context, { slice, wakeAt, failures, isNew: false, recalled })
}

function takeRecalled(slice: TreeSlice, { kinds }: EngineContext, recalled: ReadonlyMap<string, LoadedNode>): void {
  const placed = [...recalled.values()].filter(({ row }) => slice.nodes.has(row.parentId ?? ''))
  if (placed.length < recalled.size) throw new RevisionConflict(recalled.size, placed.length)
  take(slice, kinds, placed)
}

export interface RootPlace {
  readonly project: string
  readonly projectId: string
  readonly now: Date
  /** True if `decideNow` is to decide a tree of so many objects in this transaction. */
  readonly decidesInline: (objects: number) => boolean
}

/** Creates a new tree, which no other transaction sees before the commit. */
export function createRoot(
  tx: Transaction,
  context: EngineContext,
  { project, projectId, now, decidesInline }: RootPlace,
  root: NewRoot,
): LockedTree {
  const id = context.system.id()
  const tracked = TrackedObject.created(
    { id, rootId: id, parentId: null, projectId, ordinal: 0, waitingFor: 0, ...nameOf(root) },
    context.kinds.machine(root.kind).initial,
    now,
  )
  const slice = new TreeSlice({
    ...context,
    projectName: project,
    root: tracked,
    now,
    evaluated: NOT_EVALUATED,
    specs: NO_SPECS,
  })
  slice.adopt(tracked, root, 'USER')
  return new LockedTree(
    tx,
    context,
    { slice, wakeAt: null, failures: 0, isNew: true, recalled: NOTHING_RECALLED },
    decidesInline,
  )
}
const nameOf = ({ kind, name }: NewRoot) => ({ kind, name })
