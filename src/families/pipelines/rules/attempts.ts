import { type AttemptFailure, nextAttemptAt, withAttempt } from '../../../core/retry.ts'
import { type Node, type Slice, WORK_STATE, type Work } from '../../../core/tree.ts'
import { STARTED } from '../machines.ts'
import { type WorkloadRetry, workload } from './details.ts'

/**
 * Attempts of workers and jobs with a retry policy. Between two of them one is PENDING and holds no slot. Its work is first the removal
 * of what the last attempt has left, then nothing until the time of the next one, which is in `retry.nextAt` meanwhile.
 */

/** Attempts of a worker that have ended: the token of each one has this number. */
export const endedAttempts = (worker: Node): number => workload(worker).retry?.attempts.length ?? 0

/** Its worker has begun another attempt since. */
export const isOfEarlierAttempt = (job: Node, worker: Node): boolean =>
  workload(job).workerAttempt < endedAttempts(worker)

export const ATTEMPT_TIMEOUT = 'ATTEMPT_TIMEOUT'

/** The end of all attempts: the timeout runs from the first claim. */
export function deadlineOf(node: Node): Date | null {
  const { startedAt, timeoutMs } = workload(node)
  return startedAt && timeoutMs !== null ? new Date(startedAt.getTime() + timeoutMs) : null
}

/** The policy with the attempt that ends now; null: the node has no policy, or no attempt runs. */
export function endedAttempt(node: Node, error: AttemptFailure | null, slice: Slice): WorkloadRetry | null {
  const { retry } = workload(node)
  if (!retry || !STARTED.includes(node.row.phase)) return null
  const { instance = null, pickedUpAt = null } = node.work ?? {}
  return withAttempt(retry, { agent: instance, begunAt: pickedUpAt ?? slice.now, endedAt: slice.now, error })
}

/** When the attempt after these may begin; null: there is none. */
export const nextStart = (node: Node, ended: WorkloadRetry, slice: Slice): Date | null =>
  nextAttemptAt(ended, {
    now: slice.now,
    random: slice.random(),
    deadline: deadlineOf(node),
    busyUntil: null,
  })

export const isBetweenAttempts = (node: Node): boolean =>
  node.row.phase === 'PENDING' && workload(node).retry?.nextAt != null

/** True until the runtime has removed what the last attempt has left. */
export const isRemoving = ({ work }: Node): boolean => work?.action === 'REMOVE' && work.state !== WORK_STATE.DONE

/**
 * No agent can claim, renew or report this: the engine keeps the row for its clock alone. A missing lease counts as expired, so the row
 * has a request to stop as well: what has one is never claimed again.
 */
const PARKED = {
  action: 'START',
  state: WORK_STATE.CLAIMED,
  fenceHash: null,
  principalId: null,
  instance: null,
  leaseUntil: null,
  leaseWatched: false,
} as const satisfies Partial<Work>

export const isParked = ({ row, work }: Node): boolean =>
  row.phase === 'PENDING' && work?.action === 'START' && work.state === WORK_STATE.CLAIMED

/** Until the time of the next attempt; null: that has come, and the job waits for a slot. */
export function park(node: Node, until: Date | null, slice: Slice): void {
  const dueAt = until ?? deadlineOf(node)
  if (node.work) slice.setWork(node, { ...PARKED, abortRequestedAt: slice.now, offerAfter: until, dueAt })
}
