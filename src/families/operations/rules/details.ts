import type { AttemptFailure, Retry } from '../../../core/retry.ts'
import type { Node } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { StartGate } from '../../start-gate.ts'
import { gadgetJob as machine } from '../machines.ts'
import type { DeclaredLock } from './lock-mode.ts'

/** The family's own columns. */

export interface TaskDetails {
  /** The viewer that cancelled the task. */
  readonly cancelBy: string | null
  /** Id of the task whose jobs it runs again. */
  readonly retryOf: string | null
}
/** Why a job is being undone, or could not be. ABORT: the clean-up of a cancelled job has failed. */
export type UndoAfter = 'FAILURE' | 'CRASH' | 'ABORT'
/** Kept beside the job, since a report reads no spec. */
export interface JobRetry extends Retry {
  /** The job could not be undone: from there on a person decides, and no policy. */
  readonly isFinal?: true
  /** When the running attempt had its locks, as ISO 8601; null: none runs. */
  readonly begunAt: string | null
  /** The next attempt begins at this time or later; null: none waits for its time. */
  readonly nextAt: string | null
}
export interface JobDetails {
  readonly gadget: string
  /** With all expressions resolved; null: the job has not started. */
  readonly args: readonly string[] | null
  readonly env: Readonly<Record<string, string>> | null
  readonly locks: readonly DeclaredLock[] | null
  /** Exports of its last success. */
  readonly exports: Readonly<Record<string, unknown>> | null
  readonly startedAt: Date | null
  readonly endedAt: Date | null
  readonly undoAfter: UndoAfter | null
  /** The failure that is being undone. */
  readonly keptError: AttemptFailure | null
  /** The retry policy, and the attempts that have ended; null: it has none. */
  readonly retry: JobRetry | null
  /** Null: it has none. */
  readonly gate: StartGate | null
}

export const NEW_TASK: TaskDetails = { cancelBy: null, retryOf: null }
export const NEW_JOB: JobDetails = {
  gadget: '',
  args: null,
  env: null,
  locks: null,
  exports: null,
  startedAt: null,
  endedAt: null,
  undoAfter: null,
  keptError: null,
  retry: null,
  gate: null,
}

export const job = (node: Node): JobDetails => node.details as JobDetails

/** Ended for good. */
export const isOver = (phase: Phase): boolean => machine.final.includes(phase)
/** True if the task was cancelled; undone jobs then do not run again. */
export const isCancelled = (taskNode: Node): boolean => taskNode.row.phase === 'ABORTING'

/** The phase of a job after undoing it, as far as it is known now. */
export function afterUndo(node: Node, taskNode: Node | null): 'FAILED' | 'RUNNING' | 'ABORTED' {
  const { undoAfter } = job(node)
  if (undoAfter === 'ABORT' || (taskNode && isCancelled(taskNode))) return 'ABORTED'
  return undoAfter === 'CRASH' ? 'RUNNING' : 'FAILED'
}
