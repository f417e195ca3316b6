import type { Node, Slice } from '../../core/tree.ts'
import { installation } from './details.ts'

/** A root that is finished takes up what is remembered: a deletion first, then one reconcile, however often it was asked. */
export function startJob(root: Node, slice: Slice): void {
  const { ignored, nextMode, nextDeletion, forceDeletion } = installation(root)
  const { phase, deletionRequestedAt } = root.row
  // Never reconciled, a root is in no final phase: it is then ignored only where something could be lost.
  if (ignored && phase !== 'PENDING') return
  if (!nextDeletion && !nextMode) return
  // A pending deletion is only ever repeated, never undone.
  const deleting = nextDeletion || deletionRequestedAt !== null
  slice.setDetails(root, {
    nextMode: null,
    nextDeletion: false,
    mode: nextMode ?? 'STANDARD',
    forceDeletion: deleting && (forceDeletion || nextMode === 'FORCE'),
    cancelRequestedAt: null,
    cancelBy: null,
  })
  slice.patch(root, {
    jobId: slice.newId(),
    deletionRequestedAt: deleting ? (deletionRequestedAt ?? slice.now) : null,
  })
  slice.touch(root)
}
