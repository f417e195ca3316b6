import { type FailureCause, type ObjectFailure, objectFailure } from '../../../core/errors.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { INSTALLING } from '../machines.ts'
import { planNext } from './automatic-reconcile.ts'
import { type InstallationDetails, installation, isCancelled, isForced } from './details.ts'
import { freeLimits } from './limits.ts'
import type { EndedRun } from './origin.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    failedChildren: { readonly args: string; readonly answer: readonly FailureCause[] }
  }
  interface FamilyEffects {
    editedJobEnded: null
    deletionFailed: null
    runEnded: EndedRun
  }
}

/** Ends an object's part in a job and updates its parent and siblings, equally for all three kinds. */

export interface Ending {
  readonly to: Phase
  readonly error?: ObjectFailure | null
  readonly actor?: 'CONTROLLER' | 'DEPLOYER' | 'USER'
  readonly by?: Principal | null
  readonly message?: string | null
  /** The fact of this case, where the machine's row stands for several; an error's code comes first. */
  readonly reason?: string
}

/** Moves an object to the phase in which its job ends. */
export function finish(node: Node, slice: Slice, ending: Ending): void {
  const { error = null, actor = 'CONTROLLER', by = null } = ending
  if (error || node.error) slice.setError(node, error)
  if (!slice.parent(node) && wasEdited(node)) slice.effect('editedJobEnded', null)
  slice.move(node, ending.to, {
    actor,
    by,
    reason: error?.code ?? ending.reason ?? null,
    message: error?.message ?? ending.message ?? null,
  })
  closeWork(node, slice, actor)
  if (ending.to === 'GONE') return ended(node, slice)
  if (ending.to === 'DELETE_FAILED' && !slice.parent(node)) slice.effect('deletionFailed', null)
  if (!slice.parent(node)) endRun(node, slice, { phase: ending.to, error })
  const good = ending.to === 'SUCCEEDED'
  slice.patch(node, { finishedJobId: node.row.jobId })
  ended(node, slice)
  notifyParent(node, slice, { open: -1, failed: good ? 0 : 1 })
  notifySiblings(node, slice, good)
  // Nothing begins behind the gates beside it any more.
  if (node.row.kind === 'DEPLOY_ITEM' && !good && !isCancelled(slice) && slice.parent(node)?.childCounts.open)
    slice.effect('endWaits', null)
}

const ended = (node: Node, slice: Slice): void => {
  if (node.row.kind === 'DEPLOY_ITEM') freeLimits(node, slice)
}

type RunEnding = Pick<EndedRun, 'phase' | 'error'>

/** Records the root's job, and sets when the next one begins by itself. */
function endRun(root: Node, slice: Slice, ending: RunEnding): void {
  planNext(root, slice, ending.phase)
  recordRun(root, slice, ending)
}

/** A job that an earlier version has begun has no record. */
export function recordRun(root: Node, slice: Slice, { phase, error }: RunEnding): void {
  const { row, details } = root
  const { jobId, observedGeneration: generation } = row
  const { mode, origin, exports } = details as InstallationDetails
  if (!jobId || origin?.jobId !== jobId) return
  const run: EndedRun = {
    jobId,
    mode,
    origin,
    generation,
    phase,
    error,
    exports: phase === 'SUCCEEDED' ? exports : null,
  }
  slice.effect('runEnded', run)
}

/** The snapshot of its spec, which the ended job used. */
const wasEdited = ({ row }: Node): boolean =>
  INSTALLING.includes(row.phase) && row.generation !== row.observedGeneration

/** Why a child is deleted: its parent is, too, or its spec does not have it any more. */
export const whyDeleted = (parent: Node | null): string =>
  !parent || parent.row.deletionRequestedAt ? 'deletion requested' : `no longer in the spec of ${parent.row.name}`

/** Releases the objects that waited for the deletion of this one. */
export function vanish(node: Node, slice: Slice, ending: Omit<Ending, 'to'> & { readonly triggered: boolean }): void {
  finish(node, slice, { ...ending, to: 'GONE' })
  slice.release(node, 'dependencies', 1)
  notifyParent(node, slice, ending.triggered ? { open: -1, total: -1 } : { untriggered: -1, total: -1 })
}

/** Ends the job of an unchanged or ignored object without a phase change; it counts with its present phase. */
export function keep(node: Node, slice: Slice, jobId: string): void {
  slice.patch(node, { jobId, finishedJobId: jobId })
  notifySiblings(node, slice, node.row.phase === 'SUCCEEDED')
}

function closeWork(node: Node, slice: Slice, actor: Ending['actor']): void {
  // An item that waits for limits is DONE as far as agents are concerned, and has no end yet.
  if (!node.work || node.work.doneAt) return
  // An agent that ended its work has stopped. One that was overruled may work until its lease ends.
  const lease = actor === 'DEPLOYER' ? { leaseUntil: null } : {}
  slice.setWork(node, { state: WORK_STATE.DONE, dueAt: null, doneAt: slice.now, leaseWatched: false, ...lease })
}

function notifyParent(
  node: Node,
  slice: Slice,
  delta: { open?: number; failed?: number; total?: number; untriggered?: number },
) {
  const parent = slice.parent(node)
  if (!parent) return slice.touch(node)
  slice.addChildCounts(parent, delta)
  slice.touch(parent)
}

function notifySiblings(node: Node, slice: Slice, good: boolean): void {
  // A root and an execution have neither dependencies nor dependents.
  if (!slice.parent(node) || node.row.kind === 'EXECUTION') return
  if (good || isPassedOver(node, slice)) slice.release(node, 'dependents', 1)
  // A nested installation fails with its predecessor, and a deletion stops when the deletion of a dependent has failed.
  else if (node.row.kind === 'INSTALLATION') {
    slice.release(node, 'dependents', 0)
    slice.release(node, 'dependencies', 0)
  }
}

/** Dependents of a failed item wait for their other dependencies, not for its success. */
const isPassedOver = ({ row }: Node, slice: Slice): boolean =>
  row.kind === 'INSTALLATION' && row.deletionRequestedAt === null && isForced(slice)

export function failWithCauses(parent: Node, slice: Slice, to: 'FAILED' | 'DELETE_FAILED'): void {
  const causes = slice.ask('failedChildren', parent.row.id)
  if (!causes) return
  const count = Math.max(parent.childCounts.failed, causes.length)
  if (causes.length === 0) {
    const message = `${count} of its children disappeared.`
    return finish(parent, slice, { to, error: objectFailure(slice, 'ITEM_DISAPPEARED', message, [], count) })
  }
  // The log and notifications have this message and no causes, so it names the one below that failed by itself.
  const why = ({ code, root }: FailureCause): string => (root ? `${root.name}: ${root.code}` : code)
  const names = causes.map((cause) => `${cause.name} (${why(cause)})`).join(', ')
  const message = `${names}${count > causes.length ? ` and ${count - causes.length} more` : ''} did not succeed.`
  finish(parent, slice, { to, error: objectFailure(slice, 'CHILDREN_FAILED', message, causes, count) })
}

export const cancelMessage = (slice: Slice): string => {
  const by = installation(slice.root).cancelBy
  return by ? `Cancelled by ${by}.` : 'Cancelled.'
}

/** While orphans are deleted, the parent's child counts cover only them. */
export function orphansFirst(parent: Node, slice: Slice): 'gone' | 'waiting' {
  const { total, untriggered, open, failed } = parent.childCounts
  if (total === 0 || untriggered + open + failed === 0) return 'gone'
  if (failed > 0 && open === 0) failWithCauses(parent, slice, 'FAILED')
  return 'waiting'
}
