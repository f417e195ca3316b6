import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import { installation, strongerMode } from './details.ts'
import { remember } from './pending-requests.ts'

/** `scope`: an import of the root has changed. */
export function onWake(node: Node, reason: string, slice: Slice): void {
  if (reason !== 'scope' || slice.parent(node)) return
  const { phase, deletionRequestedAt, jobId } = node.row
  // A root without a job ignores it: it reads the scope when a job starts, and other roots do not start one.
  const reads = phase === 'PENDING_DEPENDENCIES' || (phase === 'PENDING' && isFinished(node.row))
  if (reads || deletionRequestedAt || jobId === null) return
  const { nextMode, nextOrigin } = installation(node)
  remember(node, slice, {
    nextMode: strongerMode(nextMode, 'IF_CHANGED'),
    nextOrigin: nextOrigin ?? { by: null, cause: 'IMPORTS_CHANGED', at: slice.now.toISOString() },
  })
}
