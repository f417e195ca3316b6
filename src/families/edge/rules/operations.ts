import type { Phase } from '../../../core/vocabulary.ts'
import type { CrmAction } from './spec.ts'

/** The phases of creating, updating and deleting an instance. */

interface Operation {
  readonly action: CrmAction
  readonly requested: Phase
  readonly working: Phase
  readonly failed: Phase
  /** The request that makes the CRM undo the operation. */
  readonly undo: CrmAction
}
const OPERATIONS: readonly Operation[] = [
  { action: 'CREATE', requested: 'CREATE_REQUESTED', working: 'CREATING', failed: 'CREATE_ERROR', undo: 'DELETE' },
  { action: 'UPDATE', requested: 'UPDATE_REQUESTED', working: 'UPDATING', failed: 'UPDATE_ERROR', undo: 'UPDATE' },
  { action: 'DELETE', requested: 'DELETE_REQUESTED', working: 'DELETING', failed: 'DELETE_ERROR', undo: 'CREATE' },
]

/** The operation of an instance in this phase; null: none of a CRM. */
export const operationAt = (phase: Phase): Operation | null =>
  OPERATIONS.find(({ requested, working, failed }) => [requested, working, failed].includes(phase)) ?? null
export const operationOf = (action: CrmAction): Operation =>
  OPERATIONS.find((operation) => operation.action === action) as Operation

/** The CRM has not acknowledged the request. */
export const REQUESTED: readonly Phase[] = OPERATIONS.map(({ requested }) => requested)
export const isRequested = (phase: Phase): boolean => REQUESTED.includes(phase)
export const isWorking = (phase: Phase): boolean => OPERATIONS.some(({ working }) => working === phase)
export const isFailed = (phase: Phase): boolean => OPERATIONS.some(({ failed }) => failed === phase)
