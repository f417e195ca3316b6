import { isFinished, type Node, type Slice } from '../../core/tree.ts'
import { installation, strongerMode } from './details.ts'

/** `scope`: something that a root imports has changed. */
export function onWake(node: Node, reason: string, slice: Slice): void {
  if (reason !== 'scope' || slice.parent(node)) return
  const { phase, deletionRequestedAt, jobId } = node.row
  // It reads the scope itself before it starts; a root that nobody has started is not started by its neighbours.
  const reads = phase === 'PENDING_DEPENDENCIES' || (phase === 'PENDING' && isFinished(node.row))
  if (reads || deletionRequestedAt || jobId === null) return
  slice.setDetails(node, { nextMode: strongerMode(installation(node).nextMode, 'IF_CHANGED') })
}
