import { objectFailure } from '../../../core/errors.ts'
import { type AttemptFailure, attemptText, nextAttemptAt, withAttempt } from '../../../core/retry.ts'
import { type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import { deployItem, type ItemRetry, installation, isCancelled } from './details.ts'
import { isParked } from './limits.ts'
import type { ItemSpec, Timeout } from './spec.ts'

/** Attempts of deploy items with a retry policy: their clocks, their ends, and what comes after one that failed. */

/** Codes of ends that the controller judges. Others are final: they are no attempt's, or that of all of them. */
export const ATTEMPT_TIMEOUT = 'ATTEMPT_TIMEOUT'
export const PROGRESSING_TIMEOUT = 'PROGRESSING_TIMEOUT'

export const limit = (timeout: Timeout | undefined, byDefault: number): number | null =>
  timeout === undefined ? byDefault : 'ms' in timeout ? timeout.ms : null
export const after = (since: Date, ms: number | null): Date | null =>
  ms === null ? null : new Date(since.getTime() + ms)
export const earlier = (a: Date | null, b: Date | null): Date | null => (a && b ? (a < b ? a : b) : (a ?? b))

/** A new job takes the policy of the spec, and begins to count anew. */
export function takePolicy(item: Node, { retry: policy, timeouts }: ItemSpec, slice: Slice): void {
  if (!policy && !deployItem(item).retry) return
  const pickupMs = limit(timeouts.pickup, slice.timeouts.pickupMs)
  slice.setDetails(item, { retry: policy ? ({ policy, pickupMs, attempts: [] } satisfies ItemRetry) : null })
}

/** True between two attempts: the fence is still that of the last one, which has ended. */
export const isBetweenAttempts = (item: Node): boolean =>
  item.row.phase === 'INIT' &&
  (item.work?.state === WORK_STATE.OFFERED || isParked(item)) &&
  item.work?.pickedUpAt !== null

/** The end of all attempts of the job: that of the progressing timeout. */
export const deadlineOf = ({ work }: Node): Date | null =>
  work?.pickedUpAt ? after(work.pickedUpAt, work.progressingMs) : null

/** When a claim's clock runs out: that of its attempt, which further claims do not restart, or that of the job. */
export function dueAfterClaim(item: Node, pickedUpAt: Date, slice: Slice): Date | null {
  const { row, work } = item
  const deadline = after(pickedUpAt, work?.progressingMs ?? null)
  const attemptMs = work?.action === 'RECONCILE' ? (deployItem(item).retry?.policy.attemptTimeoutMs ?? null) : null
  if (attemptMs === null) return deadline
  return earlier(deadline, after(row.phase === 'PROGRESSING' ? row.phaseSince : slice.now, attemptMs))
}

/** Notes the end of the running attempt, if the item has a policy. */
export function endAttempt(item: Node, error: AttemptFailure | null, slice: Slice): void {
  const { retry } = deployItem(item)
  if (!retry || item.row.phase !== 'PROGRESSING') return
  const agent = item.work?.instance ?? null
  const ended = { agent, begunAt: item.row.phaseSince, endedAt: slice.now, error }
  slice.setDetails(item, { retry: withAttempt(retry, ended) })
}

/**
 * Offers the item anew after a failed attempt, if its policy has another one. Nothing is held until then but a lease whose
 * agent did not answer: it may work until that ends.
 */
export function tryAgain(
  item: Node,
  failure: AttemptFailure,
  { answered }: { readonly answered: boolean },
  slice: Slice,
): boolean {
  const { work, row } = item
  const { retry } = deployItem(item)
  if (!retry || work?.action !== 'RECONCILE' || row.phase !== 'PROGRESSING' || mayNotContinue(slice)) return false
  const { code, message } = failure
  const begunAt = row.phaseSince
  const ended = withAttempt(retry, { agent: work.instance, begunAt, endedAt: slice.now, error: failure })
  const busyUntil = !answered && work.leaseUntil && work.leaseUntil > slice.now ? work.leaseUntil : null
  const deadline = deadlineOf(item)
  const offerAfter = nextAttemptAt(ended, { now: slice.now, random: slice.random(), deadline, busyUntil })
  if (!offerAfter) return false
  slice.move(item, 'INIT', { reason: `retry: attempt ${attemptText(retry)} ended ${code}`, message })
  slice.setDetails(item, { retry: { ...ended, claims: work.attempt } satisfies ItemRetry })
  slice.setError(item, objectFailure(slice, code, message))
  if (item.hasProgress) slice.setProgress(item, null)
  const { limits } = deployItem(item)
  slice.setWork(item, {
    state: limits ? WORK_STATE.DONE : WORK_STATE.OFFERED,
    offerAfter,
    // A fence that was not answered is worth nothing any more; one that was may be reported with again.
    ...(answered ? { leaseUntil: null } : { fenceHash: null, leaseUntil: busyUntil }),
    leaseWatched: false,
    abortRequestedAt: null,
    abortCode: null,
    dueAt: limits ? null : earlier(after(offerAfter, retry.pickupMs), deadline),
  })
  if (limits) slice.touch(item)
  return true
}

/** Ends a backoff: the next attempt is offered as soon as no agent can be at work any more. */
export function offerNow(item: Node, slice: Slice): void {
  const { work } = item
  const { retry } = deployItem(item)
  if (!work || !retry) return
  const offerAfter = work.leaseUntil && work.leaseUntil > slice.now ? work.leaseUntil : null
  const dueAt = earlier(after(offerAfter ?? slice.now, retry.pickupMs), deadlineOf(item))
  slice.setWork(item, { state: WORK_STATE.OFFERED, offerAfter, dueAt })
}

/** Why no further attempt begins in this job: it was cancelled, or cannot succeed or is to be followed by another. */
export const mayNotContinue = (slice: Slice): boolean => isCancelled(slice) || isOutdated(slice)
export const isOutdated = (slice: Slice): boolean =>
  isFollowed(slice) || slice.root.row.generation !== slice.root.row.observedGeneration
/** Another job is requested. */
export function isFollowed({ root }: Slice): boolean {
  const { nextMode, nextDeletion } = installation(root)
  return nextMode !== null || nextDeletion
}
