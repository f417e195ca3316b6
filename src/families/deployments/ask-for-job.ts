import { isFinished, type Node, type Slice } from '../../core/tree.ts'
import type { ReconcileMode } from '../../core/vocabulary.ts'
import { installation, isCancelled, strongerMode } from './details.ts'
import { INSTALLING } from './machines.ts'

/** Asked for a reconcile, a root that has a job and has not begun it takes that in; otherwise one job runs after the present one. */
export function askForJob(root: Node, mode: ReconcileMode, slice: Slice): void {
  const { mode: present, nextMode } = installation(root)
  if (isYetToBegin(root, slice)) slice.setDetails(root, { mode: strongerMode(present, mode) })
  else slice.setDetails(root, { nextMode: strongerMode(nextMode, mode) })
}

/** What was remembered for a job of its own all the same: before its turn came, or by a server of before. */
export function takeInRemembered(root: Node, slice: Slice): void {
  const { mode, nextMode } = installation(root)
  if (nextMode && isYetToBegin(root, slice)) {
    slice.setDetails(root, { mode: strongerMode(mode, nextMode), nextMode: null })
  }
}

/** From INIT on a job works from what it has read; one that is cancelled takes nothing in, and a deletion is no reconcile. */
const isYetToBegin = ({ row }: Node, slice: Slice): boolean =>
  !isFinished(row) && !INSTALLING.includes(row.phase) && !row.deletionRequestedAt && !isCancelled(slice)
