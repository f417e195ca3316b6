import { GATE } from '../../../core/deployers/gate.ts'
import { inOneLine, objectFailure } from '../../../core/errors.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { NEW_WORK, type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import { askAddress, type Decision, describeGate, type Gates, gateReason, readGate, reopensAt } from '../../gate.ts'
import { after, isFollowed } from './attempts.ts'
import { type DeployItemDetails, deployItem, type InstallationDetails, installation, isCancelled } from './details.ts'
import { cancelMessage, finish } from './finish.ts'
import type { ItemSpec } from './spec.ts'

/** Gates: deploy items that people, a program, the clock or an address end, in the place of a deployer. */

export const isGate = (item: Node): boolean => deployItem(item).type === GATE

/** Ids of the authors: one has written the spec that the job uses, one has asked for the job. */
export const authorsOf = ({ origin, editorId }: Pick<InstallationDetails, 'origin' | 'editorId'>) => [
  origin?.byId,
  origin?.editorId,
  editorId,
]

export const gates: Gates = {
  waiting({ row, details }) {
    const gate = row.kind === 'DEPLOY_ITEM' && row.phase === 'INIT' ? (details as DeployItemDetails).gate : null
    return gate?.decision ? null : gate
  },
  authors: (_item, { root }) => authorsOf(installation(root)),
  write: (item, gate, slice) => slice.setDetails(item, { gate }),
}

/** The item waits at its gate; `timeouts.pickup` says how long, and without it there is no end. */
export function closeGate(item: Node, slice: Slice, { config, spec, jobId }: Waiting): void {
  const gate = readGate(config, slice.now)
  if ('path' in gate) {
    slice.move(item, 'INIT')
    const message = gate.path === '' ? `The config ${gate.message}` : inOneLine([gate])
    return finish(item, slice, { to: 'FAILED', error: objectFailure(slice, 'GATE', message) })
  }
  slice.setDetails(item, { gate })
  // Rules of notifications find it by the reason.
  slice.move(item, 'INIT', { reason: gateReason(gate), message: describeGate(gate) })
  askAddress(item, gate, slice)
  const { pickup } = spec.timeouts
  const expiresAt = after(slice.now, pickup && 'ms' in pickup ? pickup.ms : null)
  const opensAt = gate.until === null ? null : new Date(gate.until)
  const dueAt = opensAt && (!expiresAt || opensAt < expiresAt) ? opensAt : expiresAt
  // Claimed without a lease: it has a clock, and no agent gets it.
  const { type, target } = deployItem(item)
  slice.setWork(item, {
    ...{ ...NEW_WORK, type, target, action: 'RECONCILE', state: WORK_STATE.CLAIMED, config, jobId },
    ...{ triggeredAt: slice.now, dueAt },
  })
  watchGate(item, slice)
}
interface Waiting {
  readonly config: unknown
  readonly spec: ItemSpec
  readonly jobId: string
}

/** A gate that waits: decided, cancelled, or its clock has run out. */
export function watchGate(item: Node, slice: Slice): void {
  const { gate } = deployItem(item)
  const { dueAt } = item.work ?? {}
  const { decision, until = null } = gate ?? {}
  if (decision?.exports) return open(item, slice, decision)
  if (decision) return fail(item, slice, 'REJECTED', decision.message, decision.by)
  const uselessBecause = whyUseless(item, slice)
  if (uselessBecause !== null)
    return finish(item, slice, { to: 'ABORTED', error: objectFailure(slice, 'ABORTED', uselessBecause) })
  if (!dueAt || dueAt > slice.now) return
  if (until !== null && new Date(until) <= slice.now) {
    // The engine may be late, and the next hours have begun.
    const reopens = gate && reopensAt(gate, slice.now)
    if (reopens) {
      slice.setDetails(item, { gate: { ...gate, until: reopens.toISOString() } })
      return slice.setWork(item, { dueAt: reopens })
    }
    return open(item, slice, { by: null, message: 'Its time has come.', exports: null })
  }
  fail(item, slice, 'GATE_EXPIRED', 'Nobody opened it in time.')
}

/** Why nothing would begin behind the gate: nobody is asked in vain, and the job does not wait for them. */
function whyUseless(item: Node, slice: Slice): string | null {
  if (isCancelled(slice)) return cancelMessage(slice)
  if (slice.parent(item)?.childCounts.failed) return 'An item beside it has failed.'
  // First the items beside it are triggered, which this end would leave out.
  return isFollowed(slice) && slice.isAtRest(item) ? 'Its job is to be followed by another.' : null
}

/** It succeeds. With its config, IF_CHANGED keeps it in later jobs. */
function open(item: Node, slice: Slice, { by, message, exports }: Decision): void {
  if (exports || deployItem(item).exports) slice.setDetails(item, { exports })
  slice.setWork(item, { handedConfig: item.work?.config })
  finish(item, slice, { to: 'SUCCEEDED', message, ...(by && { actor: 'USER', by }) })
}

function fail(item: Node, slice: Slice, code: string, message: string, by: Principal | null = null): void {
  finish(item, slice, { to: 'FAILED', error: objectFailure(slice, code, message), ...(by && { actor: 'USER', by }) })
}
