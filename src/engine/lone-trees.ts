import { following } from '../core/clock-offset.ts'
import { awaitAll } from '../store/await-all.ts'
import { lockLoneRoots } from '../store/queue.ts'
import { NO_SPECS } from './cache/spec-cache.ts'
import type { EngineContext } from './context.ts'
import { take } from './load.ts'
import { LockedTree } from './locked-tree.ts'
import { TreeSlice } from './slice/tree-slice.ts'
import { TrackedObject } from './tracked-object.ts'
import { type Transaction, transaction } from './transaction.ts'

/** Roots of one transaction. */
const BATCH = 64
/** Bounds the phase writes of one transaction. Roots beyond it are decided by the next one. */
const BUDGET = 500

/**
 * Decides roots without children whose clock has run out, such as schedules, in one transaction: the earliest that nobody
 * else has locked. Wake requests of theirs are left to `reconcile`.
 * @param onLocked called with the roots before they are decided, so that each can be decided alone if this fails
 */
export function decideLone(context: EngineContext, onLocked: (rootIds: readonly string[]) => void): Promise<void> {
  return transaction(context, async (tx) => {
    const trees = await lockLone(tx, context)
    onLocked(trees.map(({ root }) => root.row.id))
    let left = BUDGET
    for (const tree of trees) {
      const { root, slice } = tree
      tree.reconciled(true)
      slice.touch(root)
      await tree.decide(Math.max(0, left))
      left -= slice.moves
    }
  })
}

async function lockLone(tx: Transaction, context: EngineContext): Promise<readonly LockedTree[]> {
  const { kinds, system } = context
  const { client } = tx
  const asked = { time: system.fixedTime, limit: BATCH, loneKinds: kinds.loneKinds }
  const locking = lockLoneRoots(client, asked)
  const locks = await (tx.trace ? tx.trace.locking(locking) : locking)
  const ids = locks.map(({ row }) => row.id)
  if (ids.length === 0) return []
  const [loaded, specs] = await awaitAll([kinds.rows.lone(client, ids), kinds.rows.specs(client, ids)])
  const nodes = new Map(loaded.map((node) => [node.row.id, node]))
  return locks.flatMap(({ row, projectName, wakeAt, failures, at }) => {
    const node = nodes.get(row.id)
    if (!node) return []
    const now = new Date(following(row.updatedAt.getTime(), at.getTime()))
    const root = TrackedObject.fresh(row)
    const slice = new TreeSlice({ ...context, projectName, root, now, evaluated: new Map(), specs: NO_SPECS })
    slice.nodes.clear()
    take(slice, kinds, [node])
    slice.root = slice.nodes.get(row.id) ?? root
    slice.root.spec = specs.get(row.id)
    return [new LockedTree(tx, context, { slice, wakeAt, failures, isNew: false, isLone: true, recalled: new Map() })]
  })
}
