import type { ClaimedItem } from '../../core/ports/agents.ts'
import { WORK_STATE } from '../../core/tree.ts'
import { openFence, sameHash } from '../../store/fence.ts'
import type { TreeRunner } from '../runner.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'

/** Releases claimed items whose agent is gone, so that they are offered again at once. */
export async function release(items: readonly ClaimedItem[], roots: ReadonlyMap<string, string>, runner: TreeRunner) {
  const byRoot = Map.groupBy(items, ({ objectId }) => roots.get(objectId) ?? '')
  byRoot.delete('')
  await Promise.all(
    [...byRoot].map(([rootId, group]) =>
      runner.run(rootId, {
        ids: group.map(({ objectId }) => objectId),
        ends: false,
        canRecall: ({ state }) => state === WORK_STATE.CLAIMED,
        apply: (slice) => {
          for (const item of group) releaseOne(slice, item)
        },
      }),
    ),
  )
}

function releaseOne(slice: TreeSlice, { objectId, fence }: ClaimedItem): void {
  const tracked = slice.nodes.get(objectId)
  const opened = openFence(fence)
  if (!tracked?.work || !opened || tracked.work.state !== WORK_STATE.CLAIMED) return
  if (!sameHash(tracked.work.fenceHash, opened.hash)) return
  slice.setWork(tracked, { state: WORK_STATE.OFFERED, fenceHash: null, leaseUntil: null, offerAfter: null })
}
