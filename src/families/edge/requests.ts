import { NEW_WORK, type Node, type Slice, WORK_STATE } from '../../core/tree.ts'
import { instanceDetails, servingSession } from './details.ts'
import { operationAt } from './operations.ts'
import type { CrmAction, Session } from './spec.ts'

/**
 * What CRMs are asked to do. A request is the work row of its object. It is never claimed: the CRM that serves the
 * cloudlet gets it, so it counts as claimed without a lease, and has a fence as soon as it is handed over.
 */
export const CRM_TYPE = 'crm'

/** What makes a fence: whoever knows the salt of a session can make it again. */
export interface FenceParts {
  readonly salt: string
  readonly objectId: string
  readonly operationId: string
  readonly attempt: number
}

/** What the CRM is to do now for an object in an operation. */
export function actionOf(node: Node): CrmAction | null {
  const operation = operationAt(node.row.phase)
  if (!operation) return null
  return instanceDetails(node).undoing ? operation.undo : operation.action
}

/** A new request: whoever has an earlier one for this object has it no more. */
export function ask(node: Node, slice: Slice): void {
  slice.setWork(node, {
    ...NEW_WORK,
    type: CRM_TYPE,
    target: slice.root.row.name,
    action: actionOf(node) === 'DELETE' ? 'DELETE' : 'RECONCILE',
    state: WORK_STATE.CLAIMED,
    config: null,
    jobId: node.row.jobId,
    attempt: (node.work?.attempt ?? 0) + 1,
    triggeredAt: slice.now,
    dueAt: dueFrom(slice),
  })
}

const dueFrom = ({ now, timeouts }: Slice): Date => new Date(now.getTime() + timeouts.crmSilenceMs)

/** Its CRM was heard of. */
export function heard(node: Node, slice: Slice): void {
  if (node.work?.dueAt) slice.setWork(node, { dueAt: dueFrom(slice) })
}

/** Nothing more is asked for; a report that is repeated is still answered. */
export function settleRequest(node: Node, slice: Slice): void {
  if (node.work) slice.setWork(node, { state: WORK_STATE.DONE, dueAt: null, doneAt: slice.now })
}

export function fenceParts(node: Node, { salt }: Session): FenceParts {
  return { salt, objectId: node.row.id, operationId: node.row.jobId ?? '', attempt: node.work?.attempt ?? 0 }
}

/** It is now this session's: `fenceHash` is that of its fence parts. */
export function dispatchTo(node: Node, slice: Slice, session: Session, fenceHash: Buffer): void {
  const { principal, instance } = session
  slice.setWork(node, { fenceHash, principal, instance, pickedUpAt: node.work?.pickedUpAt ?? slice.now })
}

/** Hands a request to the CRM that is connected; without one it waits. */
export function dispatch(node: Node, slice: Slice): void {
  const session = servingSession(slice.root)
  if (!session || slice.root.row.phase !== 'READY' || node.work?.fenceHash) return
  const hash = slice.ask<string>('crmFence', fenceParts(node, session))
  if (hash !== undefined) dispatchTo(node, slice, session, bytesOf(hash))
}

export const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex')
