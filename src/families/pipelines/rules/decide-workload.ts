import { isExpired } from '../../../core/lease.ts'
import type { LimitRequest } from '../../../core/limit-request.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { NEW_WORK, type Node, type Slice, WORK_STATE, type Work } from '../../../core/tree.ts'
import { isHeld } from '../../../core/work.ts'
import type { BackoffDecision } from '../../family.ts'
import type { Unplaced, WaitingWorkload } from '../placement/rules/placement-problem.ts'
import { ATTEMPT_TIMEOUT, deadlineOf, isBetweenAttempts, isRemoving, park } from './attempts.ts'
import { type Clock, clocksOf } from './clocks.ts'
import { isOver, type Pool, SLOT, workload } from './details.ts'
import {
  cancelWorkload,
  type Ending,
  endWorkload,
  freeSlot,
  moveWorkload,
  removeBy,
  removeNow,
} from './end-workload.ts'
import { passesOwnGate } from './gate.ts'
import { askedLimits, type SlotGrant } from './limits.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    slot: {
      readonly args: {
        readonly id: string
        readonly pool: Pool
        readonly limits: readonly LimitRequest[]
        readonly now: string
      }
      /** Null: it may not, and the limits that it asks for are gone. */
      readonly answer: SlotGrant | null
    }
    unplaced: { readonly args: WaitingWorkload & { readonly now: string }; readonly answer: Unplaced | null }
  }
}

/** Rules of a worker or job: it waits for a slot, is started, and is watched until it ends. */
export function decideWorkload(node: Node, slice: Slice): void {
  // That of a rate for which it waits no longer.
  if (node.row.phase !== 'PENDING') slice.setClock(node, null)
  if (isOver(node.row.phase)) return afterEnd(node, slice)
  if (node.row.kind === 'JOB' && hasNoWorker(node, slice)) {
    return cancelWorkload(node, slice, { actor: 'CONTROLLER', code: 'WORKER_ENDED', message: 'Its worker has ended.' })
  }
  if (node.row.phase !== 'PENDING') return watch(node, slice)
  if (!workload(node).retry?.nextAt) return admit(node, slice)
  const jobs = node.row.kind === 'WORKER' ? slice.children(node) : []
  if (!jobs) return
  endJobs(jobs, slice)
  awaitAttempt(node, jobs, slice)
}

function afterEnd(node: Node, slice: Slice): void {
  freeSlot(node, slice)
  if (node.row.kind === 'WORKER') return endJobs(slice.children(node) ?? [], slice)
  const worker = slice.parent(node)
  if (worker && isBetweenAttempts(worker)) slice.touch(worker)
}

/** The rules of each job react to the end of its worker, or of an attempt of that. */
function endJobs(jobs: readonly Node[], slice: Slice): void {
  for (const job of jobs) if (!isOver(job.row.phase)) slice.touch(job)
}

function hasNoWorker(job: Node, slice: Slice): boolean {
  const worker = slice.parent(job)
  // A worker that waits for its next attempt has none either: it creates them anew.
  return !worker || isOver(worker.row.phase) || worker.row.phase === 'PENDING'
}

/** Between two attempts: first the removal, then the time of the next one, then the queue for a slot. */
function awaitAttempt(node: Node, jobs: readonly Node[], slice: Slice): void {
  const { retry } = workload(node)
  if (!retry?.nextAt || hasTimedOut(node, slice)) return
  freeSlot(node, slice)
  if (workload(node).state === SLOT.HELD) return
  const nextAt = new Date(retry.nextAt)
  const guests = jobs.filter((job) => workload(job).usesWorkspace)
  for (const guest of guests) removeBy(guest, nextAt, slice)
  const removing = [node, ...guests].filter(isRemoving)
  // A job that has not ended yet touches its worker when it does.
  if (removing.length > 0 || !jobs.every(({ row }) => isOver(row.phase))) {
    return awaitRemoval(node, { removing, nextAt }, slice)
  }
  if (nextAt > slice.now) return park(node, nextAt, slice)
  slice.setDetails(node, { state: SLOT.WAITING, retry: { ...retry, nextAt: null } })
  park(node, null, slice)
  admit(node, slice)
}

/**
 * It waits for its own, and for that of jobs in its workspace. A runtime that is lost for good never removes anything: the job ends as
 * if it had no further attempt.
 */
function awaitRemoval(
  node: Node,
  { removing, nextAt }: { removing: readonly Node[]; nextAt: Date },
  slice: Slice,
): void {
  const since = Math.max(nextAt.getTime(), ...removing.map(({ work }) => work?.leaseUntil?.getTime() ?? 0))
  const until = new Date(since + slice.timeouts.runtimeLostMs)
  if (until <= slice.now) return endRetries(node, slice, { actor: 'CONTROLLER' })
  // Work that is done has no clock.
  if (!isRemoving(node)) park(node, nextAt, slice)
  const deadline = deadlineOf(node)
  slice.setWork(node, { dueAt: deadline && deadline < until ? deadline : until })
}

/** The failure of the last attempt becomes that of the job. */
function endRetries(node: Node, slice: Slice, who: Pick<Ending, 'actor' | 'by'>): void {
  const { code, message } = node.error ?? { code: 'FAILED', message: 'Its last attempt failed.' }
  endWorkload(node, slice, { to: 'FAILED', ...who, error: { code, message } })
}

/** The timeout of all attempts runs while the next one is awaited, too. */
function hasTimedOut(node: Node, slice: Slice): boolean {
  const deadline = deadlineOf(node)
  if (!deadline || deadline > slice.now) return false
  const error = { code: 'TIMEOUT', message: 'Its timeout has passed before the next attempt.' }
  endWorkload(node, slice, { to: 'TIMED_OUT', actor: 'CONTROLLER', error })
  return true
}

function admit(node: Node, slice: Slice): void {
  const { pool, runtime, timeoutMs, targetLabels } = workload(node)
  if (hasTimedOut(node, slice)) return
  // Its clock runs in a pause, too: nobody would set it again.
  if (!passesOwnGate(node, slice)) return
  if (slice.isPaused) {
    // Its turn is that of those behind it.
    if (node.clock) slice.effect('limitsPassed', node.row.id)
    return slice.setClock(node, null)
  }
  const limits = askedLimits(node, slice)
  if (!limits) return
  const grant = slice.ask('slot', { id: node.row.id, pool, limits, now: slice.now.toISOString() })
  if (grant === undefined) return
  if (grant === null) slice.setDetails(node, { limits: null })
  if (grant?.givesWay) return cancelWorkload(node, slice, { actor: 'CONTROLLER', ...grant.givesWay })
  if (grant?.replaces) slice.effect('limitsReplaced', node.row.id)
  if (grant?.leads) slice.effect('limitsPassed', null)
  slice.setClock(node, grant?.dueAt ?? null)
  if (!grant?.isGranted) return
  const jobId = slice.newId()
  slice.patch(node, { jobId, observedGeneration: node.row.generation })
  const event = node.row.kind === 'WORKER' ? slice.parent(node) : null
  if (event) slice.patch(event, { jobId, observedGeneration: event.row.generation })
  slice.setDetails(node, {
    state: SLOT.HELD,
    exitCode: null,
    signal: null,
    removeAt: null,
    removedAt: null,
    placeId: null,
  })
  moveWorkload(node, slice, 'STARTING', {})
  slice.setWork(node, {
    ...NEW_WORK,
    type: runtime,
    target: runtimeTarget(node, slice),
    action: 'START',
    // Built when the work is claimed, since secrets are never stored in clear.
    config: null,
    jobId,
    triggeredAt: slice.now,
    progressingMs: timeoutMs,
    leaseWatched: true,
    targetLabels,
  })
  setClock(node, slice)
}

/** A user's decision about a job between two attempts; false: it is not, or its next attempt is to begin already. */
export function resolveBackoff(node: Node, decision: BackoffDecision, by: Principal, slice: Slice): boolean {
  const { retry } = workload(node)
  if (node.row.phase !== 'PENDING' || !retry?.attempts.length) return false
  if (decision === 'GIVE_UP') {
    endRetries(node, slice, { actor: 'USER', by })
    return true
  }
  if (!retry.nextAt || new Date(retry.nextAt) <= slice.now) return false
  slice.setDetails(node, { retry: { ...retry, nextAt: slice.now.toISOString() } })
  removeNow(node, slice)
  slice.recordRequest(node, { by, reason: 'retry requested', message: `Requested by ${by.name}.` })
  return true
}

/** A job that uses its worker's workspace is started where the worker runs. */
function runtimeTarget(node: Node, slice: Slice): string | null {
  const isGuest = node.row.kind === 'JOB' && workload(node).usesWorkspace
  return isGuest ? (slice.parent(node)?.work?.target ?? null) : null
}

/** The claim counts as the pickup. From then on the workload stays with this runtime, which may have started it. */
export function claimWorkload(node: Node, _by: unknown, slice: Slice, placeId: string | null): void {
  const { work } = node
  if (work?.action !== 'START') return
  const isFirst = work.pickedUpAt === null
  slice.setWork(node, { pickedUpAt: work.pickedUpAt ?? slice.now, target: work.instance, leaseWatched: true })
  const { startedAt } = workload(node)
  if (isFirst) slice.setDetails(node, { startedAt: startedAt ?? slice.now, placeId })
  setClock(node, slice)
}

function clocks(node: Node, slice: Slice): readonly Clock[] {
  const { startedAt, retry } = workload(node)
  const attemptMs = retry?.policy.attemptTimeoutMs ?? null
  return clocksOf({ ...node.row, work: node.work, startedAt, attemptMs, removal: null }, slice.timeouts)
}

/** Called after every change of a timeout. */
export function setClock(node: Node, slice: Slice): void {
  slice.setWork(node, { dueAt: clocks(node, slice)[0]?.expiresAt ?? null })
}

function watch(node: Node, slice: Slice): void {
  const { work } = node
  if (work?.action !== 'START') return
  const due = clocks(node, slice).find(({ expiresAt }) => expiresAt <= slice.now)
  if (due && slice.isPaused && isHeld(work)) return
  if (due?.name === 'pickup') return missPickup(node, work, due, slice)
  if (due) return expire(node, work, due, slice)
  if (work.leaseWatched && work.state === WORK_STATE.CLAIMED && isExpired(work.leaseUntil, slice.now))
    markUnknown(node, work, slice)
}

/** The lease has ended: the next report of its runtime, or the timeout, decides. */
function markUnknown(node: Node, { instance }: Work, slice: Slice): void {
  slice.setWork(node, { leaseWatched: false })
  if (node.row.phase === 'UNKNOWN') return
  moveWorkload(node, slice, 'UNKNOWN', { message: `Nothing was heard of its runtime ${instance}.` })
  setClock(node, slice)
}

/** A place that is full or drained will take work again, so the time of the pickup starts anew meanwhile. */
function missPickup(node: Node, work: Work, due: Clock, slice: Slice): void {
  const { type, target, targetLabels } = work
  // Null is an answer, too: nothing is known of places.
  const { pool } = workload(node)
  const { projectId } = node.row
  const now = slice.now.toISOString()
  const unplaced = slice.ask('unplaced', { pool, projectId, type, target, targetLabels, now })
  if (unplaced === undefined) return
  if (unplaced?.problem === 'FULL' || unplaced?.problem === 'DRAINED') {
    slice.setWork(node, { triggeredAt: slice.now })
    return setClock(node, slice)
  }
  expire(node, work, due, slice, unplaced?.message)
}

function expire(node: Node, work: Work, { name, to, since, expiresAt }: Clock, slice: Slice, why = ''): void {
  const seconds = (expiresAt.getTime() - since.getTime()) / 1_000
  const error = {
    pickup: {
      code: 'PICKUP_TIMEOUT',
      message: `No runtime of type ${work.type} picked it up within ${seconds} s.${why && ` ${why}`}`,
    },
    attempt: { code: ATTEMPT_TIMEOUT, message: `The attempt took longer than ${seconds} s.` },
    timeout: { code: 'TIMEOUT', message: `It took longer than ${seconds} s.` },
    lost: { code: 'RUNTIME_LOST', message: `Its runtime ${work.instance} did not come back within ${seconds} s.` },
    removal: null,
  }[name]
  const isOfAttempt = name === 'attempt' || name === 'lost'
  if (name !== 'removal')
    endWorkload(node, slice, { to: to ?? 'TIMED_OUT', actor: 'CONTROLLER', error, mayRetry: isOfAttempt })
}
