import { step } from '../../../core/machine.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { instance as machine } from '../machines.ts'
import { type InstanceDetails, instanceDetails } from './details.ts'
import { fail, succeed, undone, vanish } from './end-operation.ts'
import { isFailed, isRequested, isWorking, operationAt } from './operations.ts'
import { ask, heard } from './requests.ts'

/** State of one object as a connecting CRM reports it; NOT_PRESENT for objects that it does not list. */
export interface Found {
  readonly phase: Phase
  readonly specRevision: number | null
}
export const NOT_FOUND: Found = { phase: 'NOT_PRESENT', specRevision: null }

/**
 * The consequence. `move`: an ordinary transition of the CRM. `fail`: the operation has failed and is undone at once,
 * since the real state is known. `again`: the request is dispatched again. `undone`: the operation is undone. `note`:
 * only the flag changes.
 */
export type Outcome =
  | { readonly type: 'move'; readonly to: Phase }
  | { readonly type: 'succeed'; readonly drifted: boolean }
  | { readonly type: 'vanish' }
  | { readonly type: 'fail'; readonly drifted: boolean | null; readonly message: string }
  /** Null: unknown whether the instance equals the record before the operation. */
  | { readonly type: 'again'; readonly drifted: boolean | null }
  | { readonly type: 'undone'; readonly drifted: boolean }
  | { readonly type: 'note'; readonly drifted: boolean }
  | { readonly type: 'nothing' }

type Revisions = Pick<InstanceDetails, 'specRevision' | 'keptRevision' | 'undoing'>

const AGAIN: Outcome = { type: 'again', drifted: null }
const NOTHING: Outcome = { type: 'nothing' }
const LOST = 'Its CRM came back without it.'
const OLD = 'Its CRM came back with the old spec.'
const STILL = 'Its CRM came back, and it is still there.'

/** The table of the specification, row by row: the outcome of the controller's record and the CRM's state. */
export function outcomeOf(recorded: Phase, found: Found, { specRevision, keptRevision, undoing }: Revisions): Outcome {
  const { phase } = found
  if (isFailed(recorded) && undoing) return outcomeOfUndo(recorded, found, { specRevision, keptRevision })
  if (isWorking(phase) || isFailed(phase)) return outcomeInTransition(recorded, found, specRevision)
  const isThere = phase === 'READY'
  const drifted = !isThere || found.specRevision !== specRevision
  switch (recorded) {
    case 'CREATE_REQUESTED':
      return isThere ? { type: 'succeed', drifted } : AGAIN
    case 'CREATING':
      return isThere ? { type: 'succeed', drifted } : { type: 'fail', drifted: null, message: LOST }
    case 'UPDATE_REQUESTED':
    case 'UPDATING': {
      if (!isThere) return { type: 'fail', drifted: true, message: LOST }
      if (!drifted) return { type: 'succeed', drifted }
      const wasDrifted = found.specRevision !== keptRevision
      return recorded === 'UPDATE_REQUESTED'
        ? { type: 'again', drifted: wasDrifted }
        : { type: 'fail', drifted: wasDrifted, message: OLD }
    }
    case 'DELETE_REQUESTED':
      return isThere ? { type: 'again', drifted } : { type: 'vanish' }
    case 'DELETING':
      return isThere ? { type: 'fail', drifted, message: STILL } : { type: 'vanish' }
    case 'READY':
    // The instance may be READY again.
    case 'DELETE_PREPARE':
      return { type: 'note', drifted }
    default:
      return NOTHING
  }
}

/** Outcome of a state in which the CRM is at work or has failed. */
function outcomeInTransition(recorded: Phase, found: Found, recordedRevision: number): Outcome {
  const { phase, specRevision } = found
  // The failure is undone already: the CRM may have missed the acknowledgement.
  const isAsRecorded = isFailed(phase) && specRevision === recordedRevision
  if (recorded === 'READY' || recorded === 'DELETE_PREPARE') return { type: 'note', drifted: !isAsRecorded }
  if (!isRequested(recorded) && !isWorking(recorded)) return NOTHING
  if (isFailed(phase) && operationAt(recorded)?.failed === phase)
    return { type: 'fail', drifted: null, message: 'Its CRM reconnected and reports that the operation has failed.' }
  const verdict = step(machine, recorded, 'CRM', phase)
  if (verdict.ok) return verdict.changed ? { type: 'move', to: phase } : NOTHING
  // The CRM is still at the previous operation.
  return AGAIN
}

function outcomeOfUndo(
  recorded: Phase,
  found: Found,
  { specRevision, keptRevision }: Pick<Revisions, 'specRevision' | 'keptRevision'>,
): Outcome {
  const undone: Outcome = { type: 'undone', drifted: false }
  if (recorded === 'CREATE_ERROR') return found.phase === 'NOT_PRESENT' ? undone : AGAIN
  const wanted = recorded === 'DELETE_ERROR' ? specRevision : keptRevision
  if (found.phase === 'READY' && found.specRevision === wanted) return undone
  return recorded === 'UPDATE_ERROR' && found.phase === 'NOT_PRESENT' ? { type: 'undone', drifted: true } : AGAIN
}

export interface Resync {
  readonly by: Principal
  /** A process that reconnects still has its requests; a new one has none. */
  readonly isNew: boolean
}

/** Applies the reported state of one object. The caller dispatches requests that have to be repeated. */
export function resync(node: Node, slice: Slice, found: Found, { by, isNew }: Resync): void {
  const outcome = outcomeOf(node.row.phase, found, instanceDetails(node))
  const change = { actor: 'CRM', by, reason: 'resync' } as const
  switch (outcome.type) {
    case 'move':
      slice.move(node, outcome.to, change)
      return heard(node, slice)
    case 'succeed':
      return succeed(node, slice, change, outcome)
    case 'vanish':
      return vanish(node, slice, change)
    case 'fail': {
      const error = { code: 'RESYNC', message: outcome.message }
      // The real state is known, so the CRM need not undo anything.
      return fail(node, slice, { ...change, error, unseen: false, drifted: outcome.drifted })
    }
    case 'again':
      note(node, slice, outcome.drifted)
      return isNew ? ask(node, slice) : heard(node, slice)
    case 'undone':
      return undone(node, slice, outcome)
    case 'note':
      return note(node, slice, outcome.drifted)
    case 'nothing':
      return
    default:
      return outcome satisfies never
  }
}

function note(node: Node, slice: Slice, drifted: boolean | null): void {
  if (drifted !== null && instanceDetails(node).drifted !== drifted) slice.setDetails(node, { drifted })
}
