import { objectFailure } from '../../../core/errors.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { AttemptFailure } from '../../../core/retry.ts'
import { type MoveOptions, NEW_WORK, type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { Actor, Phase, WorkAction } from '../../../core/vocabulary.ts'
import { endedAttempt, hasFailed } from './attempts.ts'
import { afterUndo, job } from './details.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    journal: { readonly id: string; readonly entry: string }
    releaseLocks: string
  }
}

/** Work of jobs, and their end. */

export const JOB_TYPE = 'gadget-job'

type JobAction = Extract<WorkAction, 'GET_LOCKS' | 'RUN' | 'UNDO' | 'ABORT'>

/** Offers new work to gadget runners, which replaces the previous work of the job. */
export function offerJob(node: Node, slice: Slice, action: JobAction, more: object = {}): void {
  const { gadget, args, env } = job(node)
  slice.setWork(node, {
    ...NEW_WORK,
    type: JOB_TYPE,
    target: null,
    action,
    config: { gadget, args: args ?? [], env: env ?? {}, ...more },
    jobId: node.row.jobId,
    triggeredAt: slice.now,
  })
}

/** A failed clean-up is repeated as a clean-up, since `--undo` is for runs that have ended. */
export function offerUndo(node: Node, slice: Slice): void {
  if (job(node).undoAfter === 'ABORT') return offerJob(node, slice, 'ABORT')
  journal(node, slice, 'UNDO_STARTED')
  offerJob(node, slice, 'UNDO', { next: afterUndo(node, slice.parent(node)) })
}

/** Starts a job whose locks are granted, and writes the journal in the same transaction. */
export function startRun(node: Node, slice: Slice, options: MoveOptions): void {
  slice.move(node, 'RUNNING', options)
  const { startedAt, retry } = job(node)
  if (!startedAt) slice.setDetails(node, { startedAt: slice.now })
  // A run that is repeated after a crash belongs to the same attempt.
  if (retry && !retry.begunAt) slice.setDetails(node, { retry: { ...retry, begunAt: slice.now.toISOString() } })
  journal(node, slice, 'START')
  offerJob(node, slice, 'RUN')
}

/** START and UNDO_STARTED are written before the action, the others after it. */
type JournalEntry = 'START' | 'DONE' | 'UNDO_STARTED' | 'UNDO' | 'FAILED' | 'ABORT' | 'RETRY'
export function journal(node: Node, slice: Slice, entry: JournalEntry): void {
  slice.effect('journal', { id: node.row.id, entry })
}

export interface Ending {
  readonly to: Extract<Phase, 'DONE' | 'FAILED' | 'ABORTED' | 'SKIPPED'>
  readonly actor?: Actor
  readonly by?: Principal | null
  readonly error?: AttemptFailure | null
  readonly message?: string | null
  /** Dependents may start: the job is done, or its condition skips it. */
  readonly satisfies: boolean
}

const ABORTED = { code: 'ABORTED', message: 'It was cancelled.' }

/** Makes a change of a job, and counts the job among the failed of its task from the moment at which it is one. */
export function countFailure(node: Node, slice: Slice, change: () => void): void {
  const before = hasFailed(node, slice)
  change()
  const after = hasFailed(node, slice)
  const taskNode = slice.parent(node)
  if (!taskNode || before === after) return
  slice.addChildCounts(taskNode, { failed: after ? 1 : -1 })
  slice.touch(taskNode)
}

/** Ends the job, releases its locks, and touches its task and dependents. */
export function endJob(node: Node, slice: Slice, ending: Ending): void {
  const { to, actor = 'CONTROLLER', by = null, error = null, satisfies } = ending
  const ended = endedAttempt(node, to === 'ABORTED' ? ABORTED : error, slice)
  const isSkippedByFailure = to === 'SKIPPED' && !satisfies
  countFailure(node, slice, () => {
    slice.move(node, to, {
      actor,
      by,
      ...(error ? { reason: error.code } : {}),
      message: error?.message ?? ending.message ?? null,
    })
    if (error || node.error) slice.setError(node, error && objectFailure(slice, error.code, error.message))
    if (node.work && node.work.state !== WORK_STATE.DONE) {
      slice.setWork(node, { state: WORK_STATE.DONE, doneAt: slice.now, leaseUntil: null, leaseWatched: false })
    }
    slice.patch(node, { finishedJobId: node.row.jobId })
    slice.setDetails(node, { endedAt: slice.now, undoAfter: null, keptError: null, ...(ended && { retry: ended }) })
  })
  if (job(node).locks) slice.effect('releaseLocks', node.row.id)
  const taskNode = slice.parent(node)
  if (!taskNode) return
  slice.addChildCounts(taskNode, { open: -1, untriggered: isSkippedByFailure ? 1 : 0 })
  slice.touch(taskNode)
  if (satisfies) slice.release(node, 'dependents', 1)
}
