import { type AgentBlocker, agentBlocker, type ObjectBlocker } from '../../../core/blocker.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import { isFailed, isRequested, isWorking } from './operations.ts'
import { CRM_TYPE } from './requests.ts'

/** Blockers of cloudlets and instances. */

export interface Waiting {
  readonly kind: ObjectKind
  readonly phase: Phase
  readonly cloudletId: string
  readonly cloudletName: string
  readonly cloudletPhase: Phase
  readonly upgradePhase: Phase
  /** The first of the remaining app instances of a cluster instance that is being deleted. */
  readonly children: readonly { readonly id: string; readonly name: string; readonly phase: Phase }[]
}

export type EdgeBlocker = ObjectBlocker<'DECISION' | 'CLOUDLET' | 'DEPENDENCY'> | AgentBlocker

export function blockersOf(waiting: Waiting | undefined): readonly EdgeBlocker[] {
  if (!waiting) return []
  const { kind, phase, cloudletId, cloudletName, cloudletPhase, children } = waiting
  const isConnected = cloudletPhase === 'READY'
  if (kind === 'CLOUDLET') return ofCloudlet(waiting)
  if (phase === 'DELETE_PREPARE')
    return children.map(({ id, name, phase: at }) => ({
      reason: 'DEPENDENCY',
      message: `The app instance ${name} goes first; it is ${at}.`,
      objectId: id,
    }))
  if (!isRequested(phase) && !isWorking(phase) && !isFailed(phase)) return []
  if (!isConnected) {
    const message = `The CRM of the cloudlet ${cloudletName} is not connected: the cloudlet is ${cloudletPhase}.`
    return [{ reason: 'CLOUDLET', message, objectId: cloudletId }]
  }
  const message = isFailed(phase) ? 'Its CRM has to take it back.' : 'Its CRM is at it, or has to take it.'
  return [agentBlocker(CRM_TYPE, true, message)]
}

function ofCloudlet({ phase, upgradePhase, cloudletId, cloudletName }: Waiting): readonly EdgeBlocker[] {
  const decision: EdgeBlocker = {
    reason: 'DECISION',
    message: `The upgrade of ${cloudletName} failed, and nothing on it can be changed until an administrator has put it right by hand and says so.`,
    objectId: cloudletId,
  }
  const found = ofConnection(phase, upgradePhase)
  return upgradePhase === 'UPDATE_ERROR' ? [decision, ...found] : found
}

function ofConnection(phase: Phase, upgradePhase: Phase): readonly EdgeBlocker[] {
  const agent = (message: string, connected: boolean): EdgeBlocker => agentBlocker(CRM_TYPE, connected, message)
  if (phase === 'INIT') return [agent('A CRM has to connect.', false)]
  if (upgradePhase === 'UPDATE_REQUESTED') return [agent('Its CRM has to bring up the new one.', phase === 'READY')]
  if (upgradePhase === 'UPDATING') return [agent('The new CRM has to connect.', false)]
  if (upgradePhase === 'INIT_OK') return [agent('The new CRM has to take over.', true)]
  return []
}
