import { parseDuration } from '../../../core/parse-duration.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import type { WorkloadSpec } from '../../../projects/rules/spec.ts'
import { describeGate, type Gate, type Gates, gateReason, readGate, reopensAt } from '../../gate.ts'
import { SLOT, workload } from './details.ts'
import { cancelWorkload } from './end-workload.ts'

/** Gates of workers and jobs: each waits there before it asks for a slot, once for all its attempts. */

export interface WorkloadGate extends Gate {
  /** The principal that has asked for the event; null: the log no longer has it. */
  readonly authorId: string | null
  /** From its creation; null: it waits for ever. */
  readonly timeoutMs: number | null
  /** Absent: it is closed. */
  readonly isOpen?: true
}

/** The gate of a new workload; null: it has none. */
export function newGate({ gate: config }: WorkloadSpec, now: Date, authorId: string | null): WorkloadGate | null {
  if (!config) return null
  const gate = readGate(config, now)
  if ('path' in gate) throw new Error(`the spec was written with a gate that cannot be read: ${gate.message}`)
  return { ...gate, authorId, timeoutMs: config.timeout === undefined ? null : parseDuration(config.timeout) }
}

export const gates: Gates = {
  waiting({ row, details }) {
    const { gate } = workload({ details } as Node)
    return row.kind !== 'EVENT' && row.phase === 'PENDING' && gate && !gate.isOpen && !gate.decision ? gate : null
  },
  authors: (node) => [workload(node).gate?.authorId],
  write: (node, gate, slice) => slice.setDetails(node, { gate }),
}

/** Rules of notifications find by the reason what waits. */
export function announceGate(node: Node, slice: Slice): void {
  const { gate } = workload(node)
  if (gate) slice.recordRequest(node, { reason: gateReason(gate), message: describeGate(gate) })
}

/** True: it has no gate, or that is open. Otherwise a clock of it runs, if its gate has one, or it has ended. */
export function passesGate(node: Node, slice: Slice): boolean {
  const { gate } = workload(node)
  if (!gate || gate.isOpen) return true
  const { decision } = gate
  if (decision?.exports) return open(node, gate, slice, decision)
  if (decision) {
    const { by, message } = decision
    return end(node, slice, { actor: 'USER', by, code: 'REJECTED', message })
  }
  const due = gate.until === null ? null : new Date(gate.until)
  const reopens = due && due <= slice.now ? reopensAt(gate, slice.now) : due
  if (due && !reopens) return open(node, gate, slice, { by: null, message: 'Its time has come.' })
  if (reopens !== due) slice.setDetails(node, { gate: { ...gate, until: reopens?.toISOString() } })
  const expires = gate.timeoutMs === null ? null : new Date(node.row.createdAt.getTime() + gate.timeoutMs)
  if (expires && expires <= slice.now)
    return end(node, slice, { actor: 'CONTROLLER', code: 'GATE_EXPIRED', message: 'Nobody opened it in time.' })
  slice.setClock(node, reopens && (!expires || reopens < expires) ? reopens : expires)
  return false
}

function open(
  node: Node,
  gate: WorkloadGate,
  slice: Slice,
  { by, message }: { readonly by: Principal | null; readonly message: string },
): true {
  slice.setDetails(node, { gate: { ...gate, isOpen: true }, state: SLOT.WAITING })
  slice.setClock(node, null)
  slice.recordRequest(node, { ...(by && { by }), reason: 'gate opened', message })
  return true
}

function end(node: Node, slice: Slice, how: Parameters<typeof cancelWorkload>[2]): false {
  cancelWorkload(node, slice, how)
  return false
}
