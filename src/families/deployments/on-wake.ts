import { isFinished, type Node, type Slice } from '../../core/tree.ts'
import { installation, strongerMode } from './details.ts'

/** `scope`: an import of the root has changed. */
export function onWake(node: Node, reason: string, slice: Slice): void {
  if (reason !== 'scope' || slice.parent(node)) return
  const { phase, deletionRequestedAt, jobId } = node.row
  // A root without a job ignores it: it reads the scope when a job starts, and other roots do not start one.
  const reads = phase === 'PENDING_DEPENDENCIES' || (phase === 'PENDING' && isFinished(node.row))
  if (reads || deletionRequestedAt || jobId === null) return
  slice.setDetails(node, {
    nextMode: strongerMode(installation(node).nextMode, 'IF_CHANGED'),
    nextOrigin: installation(node).nextOrigin ?? { by: null, cause: 'IMPORTS_CHANGED' },
  })
}
