import type { Node, Slice } from '../../../core/tree.ts'
import { passesGate, type StartGate, startGates } from '../../start-gate.ts'
import { SLOT, type WorkloadDetails, workload } from './details.ts'
import { cancelWorkload } from './end-workload.ts'

/** Workers and jobs wait at their gates before they ask for a slot, once for all attempts. */

export const gates = startGates(
  ({ row, details }) => (row.kind === 'EVENT' ? null : (details as WorkloadDetails).gate),
  (node, gate, slice) => slice.setDetails(node, { gate }),
)

/** True: it has no gate, or that is open. */
export function passesOwnGate(node: Node, slice: Slice): boolean {
  const { gate } = workload(node)
  if (!gate) return true
  return passesGate(node, slice, {
    gate,
    write: (next: StartGate) => slice.setDetails(node, { gate: next, ...(next.isOpen && { state: SLOT.WAITING }) }),
    end: (how) => cancelWorkload(node, slice, how),
  })
}
