import { step } from '../../core/machine.ts'
import type { Node, Slice } from '../../core/tree.ts'
import type { Phase } from '../../core/vocabulary.ts'
import { fail, succeed, undone, vanish } from './end-operation.ts'
import { type InstanceFacts, instanceFacts } from './facts.ts'
import { instance as machine } from './machines.ts'
import { isFailed, isRequested, isWorking, operationAt } from './operations.ts'
import { ask, heard } from './requests.ts'

/** What a CRM says of one object when it connects; NOT_PRESENT for all that it does not speak of. */
export interface Found {
  readonly phase: Phase
  readonly specRevision: number | null
}
export const NOT_FOUND: Found = { phase: 'NOT_PRESENT', specRevision: null }

/**
 * What follows. `move`: an ordinary transition of the CRM. `fail`: the operation has failed, and is undone at once,
 * since what there is is known. `again`: the request is handed over again. `undone`: what was to be taken back is.
 * `note`: nothing moves, but for the flag.
 */
export type Outcome =
  | { readonly type: 'move'; readonly to: Phase }
  | { readonly type: 'succeed' }
  | { readonly type: 'vanish' }
  | { readonly type: 'fail'; readonly drifted: boolean; readonly message: string }
  | { readonly type: 'again' }
  | { readonly type: 'undone'; readonly drifted: boolean }
  | { readonly type: 'note'; readonly drifted: boolean }
  | { readonly type: 'nothing' }

type Revisions = Pick<InstanceFacts, 'specRevision' | 'keptRevision' | 'undoing'>

const AGAIN: Outcome = { type: 'again' }
const NOTHING: Outcome = { type: 'nothing' }
const LOST = 'Its CRM came back without it.'
const OLD = 'Its CRM came back with the old spec.'
const STILL = 'Its CRM came back, and it is still there.'

/** The table of the specification, row by row: what the controller's record and the CRM's word make together. */
export function outcomeOf(recorded: Phase, found: Found, { specRevision, keptRevision, undoing }: Revisions): Outcome {
  const { phase } = found
  if (isFailed(recorded) && undoing) return outcomeOfUndo(recorded, found, keptRevision)
  if (isWorking(phase) || isFailed(phase)) return outcomeInTransition(recorded, phase)
  const isThere = phase === 'READY'
  switch (recorded) {
    case 'CREATE_REQUESTED':
      return isThere ? { type: 'succeed' } : AGAIN
    case 'CREATING':
      return isThere ? { type: 'succeed' } : { type: 'fail', drifted: false, message: LOST }
    case 'UPDATE_REQUESTED':
    case 'UPDATING': {
      if (!isThere) return { type: 'fail', drifted: true, message: LOST }
      if (found.specRevision === specRevision) return { type: 'succeed' }
      return recorded === 'UPDATE_REQUESTED' ? AGAIN : { type: 'fail', drifted: false, message: OLD }
    }
    case 'DELETE_REQUESTED':
      return isThere ? AGAIN : { type: 'vanish' }
    case 'DELETING':
      return isThere ? { type: 'fail', drifted: false, message: STILL } : { type: 'vanish' }
    case 'READY':
      return { type: 'note', drifted: !isThere || found.specRevision !== specRevision }
    default:
      return NOTHING
  }
}

/** The CRM is at something, or says that it has failed. */
function outcomeInTransition(recorded: Phase, phase: Phase): Outcome {
  if (recorded === 'READY') return { type: 'note', drifted: true }
  if (!isRequested(recorded) && !isWorking(recorded)) return NOTHING
  if (isFailed(phase) && operationAt(recorded)?.failed === phase)
    return { type: 'fail', drifted: false, message: 'Its CRM came back and says that it has failed.' }
  const verdict = step(machine, recorded, 'CRM', phase)
  if (verdict.ok) return verdict.changed ? { type: 'move', to: phase } : NOTHING
  // It is still at what came before.
  return AGAIN
}

function outcomeOfUndo(recorded: Phase, { phase, specRevision }: Found, keptRevision: number | null): Outcome {
  const undone: Outcome = { type: 'undone', drifted: false }
  if (recorded === 'CREATE_ERROR') return phase === 'NOT_PRESENT' ? undone : AGAIN
  if (recorded === 'DELETE_ERROR') return phase === 'READY' ? undone : AGAIN
  if (phase === 'NOT_PRESENT') return { type: 'undone', drifted: true }
  return phase === 'READY' && specRevision === keptRevision ? undone : AGAIN
}

export interface Resync {
  readonly by: string
  /** A process that comes back still has what it was handed; a new one has nothing. */
  readonly isNew: boolean
}

/** Takes in what a CRM says of one object. Whoever calls hands over what is to be handed over again. */
export function resync(node: Node, slice: Slice, found: Found, { by, isNew }: Resync): void {
  const outcome = outcomeOf(node.row.phase, found, instanceFacts(node))
  const told = { actor: 'CRM', by, reason: 'resync' } as const
  switch (outcome.type) {
    case 'move':
      slice.move(node, outcome.to, told)
      return heard(node, slice)
    case 'succeed':
      return succeed(node, slice, told)
    case 'vanish':
      return vanish(node, slice, told)
    case 'fail': {
      const error = { code: 'RESYNC', message: outcome.message }
      // What is there is known, so there is nothing for the CRM to take back.
      fail(node, slice, { ...told, error, unseen: false })
      if (outcome.drifted && !node.gone) slice.setFacts(node, { drifted: true })
      return
    }
    case 'again':
      return isNew ? ask(node, slice) : heard(node, slice)
    case 'undone':
      return undone(node, slice, outcome)
    case 'note':
      if (instanceFacts(node).drifted !== outcome.drifted) slice.setFacts(node, { drifted: outcome.drifted })
      return
    case 'nothing':
      return
    default:
      return outcome satisfies never
  }
}
