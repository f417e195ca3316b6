import type { Principal } from '../../../core/ports/viewer.ts'
import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import { INSTALLING } from '../machines.ts'
import { installation, isCancelled, strongerMode } from './details.ts'
import type { Origin } from './origin.ts'
import { remember } from './pending-requests.ts'

/** Requests a reconcile of a root. A job that has not begun takes the request; otherwise one more job runs later. */
export function askForJob(
  root: Node,
  mode: ReconcileMode,
  origin: Origin,
  slice: Slice,
  by: Principal | null = null,
): void {
  const { mode: present, nextMode, nextDeletion, nextOrigin } = installation(root)
  if (canTakeReconcile(root, slice)) slice.setDetails(root, { mode: strongerMode(present, mode) })
  else {
    // A pending deletion comes first, and stays that of whoever has requested it.
    const asked = nextDeletion ? nextOrigin : { ...origin, at: slice.now.toISOString() }
    remember(root, slice, { nextMode: strongerMode(nextMode, mode), nextOrigin: asked }, by)
  }
}

/** Merges a pending reconcile into a job that has not begun, e.g. one stored by an earlier version. */
export function mergePendingReconcile(root: Node, slice: Slice): void {
  const { mode, nextMode } = installation(root)
  if (nextMode && canTakeReconcile(root, slice)) {
    slice.setDetails(root, { mode: strongerMode(mode, nextMode), nextMode: null })
  }
}

/** From INIT on, a job uses the spec that it has read. A cancelled job and a deletion take no reconcile either. */
const canTakeReconcile = ({ row }: Node, slice: Slice): boolean =>
  !isFinished(row) && !INSTALLING.includes(row.phase) && !row.deletionRequestedAt && !isCancelled(slice)
