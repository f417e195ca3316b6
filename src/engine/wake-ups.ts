import { dueObjects, takeLostWork, takeWakeRequests } from '../store/queue.ts'
import type { Kinds } from './families.ts'
import { load } from './load.ts'
import type { LockedTree } from './locked-tree.ts'

/** Takes the wake requests of a tree, and the objects whose clock is due. */
export async function takeWakeUps(tree: LockedTree, kinds: Kinds): Promise<void> {
  const { client, slice, wakeAt, root } = tree
  const requests = await takeWakeRequests(client, root.row.id)
  const isClockDue = wakeAt !== null && wakeAt <= slice.now
  const dueIds = isClockDue ? await dueObjects(client, root.row.id, slice.now) : []
  tree.reconciled(isClockDue)
  for (const { traceparent } of requests) tree.follow(traceparent)
  await load(client, slice, kinds, [...requests.flatMap((request) => request.objectIds), ...dueIds])
  for (const { objectIds, reason } of requests) {
    for (const id of objectIds) {
      const tracked = slice.nodes.get(id)
      if (!tracked) continue
      if (reason) slice.runRule(tracked, () => kinds.family(tracked.row.kind).onWake(tracked, reason, slice))
      slice.touch(tracked)
    }
  }
  for (const id of dueIds) {
    const tracked = slice.nodes.get(id)
    if (tracked) slice.touch(tracked)
  }
  const lost = dueIds.filter((id) => !slice.nodes.has(id))
  if (lost.length > 0) await failLost(tree, kinds, lost)
}

/** Counts objects that are due but gone as failed children of their parents. */
async function failLost({ client, slice }: LockedTree, kinds: Kinds, lost: readonly string[]): Promise<void> {
  const works = await takeLostWork(client, lost)
  const parentIds = works.flatMap(({ parentId }) => parentId ?? [])
  await load(client, slice, kinds, parentIds)
  for (const { parentId, jobId } of works) {
    const parent = slice.nodes.get(parentId ?? '')
    if (!parent || parent.row.jobId !== jobId) continue
    slice.addChildCounts(parent, { open: -1, failed: 1 })
    slice.touch(parent)
  }
}
