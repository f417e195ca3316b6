import { NEW_WORK, type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import { instanceDetails, servingSession } from './details.ts'
import { operationAt } from './operations.ts'
import type { CrmAction, Session } from './spec.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    crmFence: { readonly args: FenceParts; readonly answer: string }
  }
}

/**
 * Requests to CRMs. A request is the work row of its object. It is never claimed: the CRM that serves the cloudlet gets
 * it, so it counts as claimed without a lease, and has a fence once it is dispatched.
 */
export const CRM_TYPE = 'crm'

/** Input of a fence, which can be derived again from the salt of a session. */
export interface FenceParts {
  readonly salt: string
  readonly objectId: string
  readonly operationId: string
  readonly attempt: number
}

/** The present request to the CRM for an object in an operation. */
export function actionOf(node: Node): CrmAction | null {
  const operation = operationAt(node.row.phase)
  if (!operation) return null
  return instanceDetails(node).undoing ? operation.undo : operation.action
}

/** The work row of a request, in the place of an earlier one of the object. */
export const newRequest = ({ row, work }: Node, slice: Slice, dueAt: Date | null) => ({
  ...NEW_WORK,
  type: CRM_TYPE,
  target: slice.root.row.name,
  action: 'RECONCILE' as const,
  state: WORK_STATE.CLAIMED,
  config: null,
  jobId: row.jobId,
  attempt: (work?.attempt ?? 0) + 1,
  triggeredAt: slice.now,
  dueAt,
})

/** Creates a request, which replaces an earlier one of the object. */
export function ask(node: Node, slice: Slice): void {
  const action = actionOf(node) === 'DELETE' ? 'DELETE' : 'RECONCILE'
  slice.setWork(node, { ...newRequest(node, slice, dueFrom(slice)), action })
}

const dueFrom = ({ now, timeouts }: Slice): Date => new Date(now.getTime() + timeouts.crmSilenceMs)

/** Restarts the timeout, since the CRM has reported. */
export function heard(node: Node, slice: Slice): void {
  if (node.work?.dueAt) slice.setWork(node, { dueAt: dueFrom(slice) })
}

/** Ends the request; a repeated report is still answered. */
export function endRequest(node: Node, slice: Slice): void {
  if (node.work) slice.setWork(node, { state: WORK_STATE.DONE, dueAt: null, doneAt: slice.now })
}

export function fenceParts(node: Node, { salt }: Session): FenceParts {
  return { salt, objectId: node.row.id, operationId: node.row.jobId ?? '', attempt: node.work?.attempt ?? 0 }
}

/** Gives the request to this session; `fenceHash` is the hash of its fence parts. */
export function dispatchTo(node: Node, slice: Slice, session: Session, fenceHash: Buffer): void {
  const { principalId, instance } = session
  slice.setWork(node, { fenceHash, principalId, instance, pickedUpAt: node.work?.pickedUpAt ?? slice.now })
}

/** Dispatches a request to the connected CRM; without one it waits. */
export function dispatch(node: Node, slice: Slice): void {
  const session = servingSession(slice.root)
  if (!session || slice.root.row.phase !== 'READY' || node.work?.fenceHash) return
  const hash = slice.ask('crmFence', fenceParts(node, session))
  if (hash !== undefined) dispatchTo(node, slice, session, bytesOf(hash))
}

export const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex')
