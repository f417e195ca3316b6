import type { Node, Slice } from '../../../core/tree.ts'
import { installation } from './details.ts'
import type { RunOrigin } from './origin.ts'

/** A finished root starts its pending jobs: a deletion first, then one reconcile for any number of requests. */
export function startJob(root: Node, slice: Slice): void {
  const { ignored, nextMode, nextDeletion, nextOrigin, forceDeletion } = installation(root)
  const { phase, deletionRequestedAt } = root.row
  // A root that was never reconciled is in no final phase. `ignored` then applies only to a deletion that could lose data.
  if (ignored && phase !== 'PENDING') return
  if (!nextDeletion && !nextMode) return
  // A deletion can be repeated, but not undone.
  const deleting = nextDeletion || deletionRequestedAt !== null
  const requestedAt = nextOrigin?.at === undefined ? slice.now : new Date(nextOrigin.at)
  const jobId = slice.newId()
  slice.setDetails(root, {
    // A version that does not write origins leaves none.
    origin: {
      by: nextOrigin?.by ?? null,
      cause: nextDeletion ? 'DELETED' : (nextOrigin?.cause ?? 'REQUESTED'),
      jobId,
      startedAt: slice.now.toISOString(),
    } satisfies RunOrigin,
    nextOrigin: null,
    nextMode: null,
    nextDeletion: false,
    mode: nextMode ?? 'STANDARD',
    forceDeletion: deleting && (forceDeletion || nextMode === 'FORCE'),
    cancelRequestedAt: null,
    cancelBy: null,
  })
  slice.patch(root, {
    jobId,
    deletionRequestedAt: deleting ? (deletionRequestedAt ?? requestedAt) : null,
  })
  slice.touch(root)
}
