import { type AttemptFailure, nextAttemptAt, withAttempt } from '../../../core/retry.ts'
import { type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import { type JobRetry, job } from './details.ts'

/** Attempts of jobs with a retry policy. Between two of them a job is PENDING, undone, and holds no lock and no ticket. */

/** The policy with the attempt that ends now; null: the job has no policy, or no attempt has its locks. */
export function endedAttempt(node: Node, error: AttemptFailure | null, slice: Slice): JobRetry | null {
  const { retry } = job(node)
  if (!retry?.begunAt) return null
  const agent = node.work?.instance ?? null
  const ended = { agent, begunAt: new Date(retry.begunAt), endedAt: slice.now, error }
  return { ...withAttempt(retry, ended), begunAt: null }
}

/** The attempts with the time of the next one, after a failure that is undone; null: the failure is final. */
export function nextAttempt(node: Node, slice: Slice): (JobRetry & { readonly nextAt: string }) | null {
  const { keptError, retry } = job(node)
  const ended = keptError && !retry?.isFinal ? endedAttempt(node, keptError, slice) : null
  if (!ended) return null
  const circumstances = { now: slice.now, random: slice.random(), deadline: null, busyUntil: null }
  const nextAt = nextAttemptAt(ended, circumstances)
  return nextAt && { ...ended, nextAt: nextAt.toISOString() }
}

/** Its failure is final and known, although it may still be undone: nothing new starts in its task. */
export function hasFailed(node: Node, slice: Slice): boolean {
  const { phase } = node.row
  if (phase === 'FAILED' || phase === 'UNDO_FAILED') return true
  return phase === 'UNDOING' && job(node).undoAfter === 'FAILURE' && nextAttempt(node, slice) === null
}

/** True before an attempt that is not the first. */
export const isRetried = (node: Node): boolean => (job(node).retry?.attempts.length ?? 0) > 0

/**
 * Keeps the row for the clock of the next attempt. No agent can claim or renew it; the fence stays, so that a repeated report
 * of the failure is known.
 */
export function park(node: Node, until: Date, slice: Slice): void {
  if (!node.work) return
  // Work with a request to stop is never claimed again, though a missing lease counts as expired.
  const held = { state: WORK_STATE.CLAIMED, leaseUntil: null, leaseWatched: false, abortRequestedAt: slice.now }
  slice.setWork(node, { ...held, offerAfter: until, dueAt: until })
}
