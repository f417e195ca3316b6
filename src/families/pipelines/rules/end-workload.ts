import { objectFailure } from '../../../core/errors.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { AttemptFailure } from '../../../core/retry.ts'
import { type MoveOptions, type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { Actor, Phase } from '../../../core/vocabulary.ts'
import { endedAttempt, isParked, isRemoving, nextStart } from './attempts.ts'
import { isOver, type Pool, SLOT, type WorkloadRetry, workload } from './details.ts'

interface FreedSlot {
  readonly pool: Pool
  /** The object, if it has asked for limits: it holds them, or waits for them, no longer. */
  readonly limited: string | null
}

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    slotFreed: FreedSlot
    forgetArtifacts: string
  }
}

/** Transitions and the end of workers and jobs. An event has its worker's phase, so it moves along. */

export function moveWorkload(node: Node, slice: Slice, to: Phase, options: MoveOptions): void {
  for (const one of withEvent(node, slice)) slice.move(one, to, options)
}

const withEvent = (node: Node, slice: Slice): readonly Node[] => {
  const event = node.row.kind === 'WORKER' ? slice.parent(node) : null
  return event ? [node, event] : [node]
}

export interface Ending {
  readonly to: Phase
  readonly actor: Actor
  readonly by?: Principal | null
  readonly message?: string | null
  /** Why it has not succeeded; null after a success. */
  readonly error: AttemptFailure | null
  readonly exitCode?: number | null
  readonly signal?: string | null
  /** The retry policy may have another attempt: neither a user nor the worker has ended this one. */
  readonly mayRetry?: boolean
}

/** Ends a workload: frees its slot, or does so once its process has ended; schedules the removal of its resources, and touches its jobs. */
export function endWorkload(node: Node, slice: Slice, ending: Ending): void {
  const { to, actor, by = null, error } = ending
  const ended = endedAttempt(node, error, slice)
  if (ended && tryAgain(node, ended, slice, ending)) return
  const failure = error && objectFailure(slice, error.code, error.message)
  const until = mayRunUntil(node, actor, slice)
  // Its phase still says whether it is between two attempts.
  const removeAt = scheduleRemoval(node, slice, drains(to, actor) ? slice.timeouts.cleanupMs : 0)
  if (until) slice.setWork(node, { dueAt: until })
  moveWorkload(node, slice, to, {
    actor,
    by,
    ...(error ? { reason: error.code } : {}),
    message: error?.message ?? ending.message ?? null,
  })
  for (const one of withEvent(node, slice)) {
    if (failure || one.error) slice.setError(one, failure)
    slice.patch(one, { finishedJobId: one.row.jobId })
  }
  slice.setDetails(node, {
    state: until ? SLOT.HELD : SLOT.OVER,
    endedAt: slice.now,
    exitCode: ending.exitCode ?? null,
    signal: ending.signal ?? null,
    removeAt,
    ...(ended && { retry: ended }),
  })
  if (!until) slice.effect('slotFreed', freed(node))
  slice.touch(node)
}

/** A process that its runtime has not ended by itself may run until that has removed it, or its lease is over. Null: none may run. */
function mayRunUntil(node: Node, actor: Actor, slice: Slice): Date | null {
  const { work } = node
  if (!work || actor === 'RUNTIME' || work.pickedUpAt === null || isParked(node)) return null
  return work.action === 'REMOVE' ? runsUntil(node, slice) : inFuture(work.leaseUntil, slice)
}

/** Until when the process of what has ended may run; null: it has ended, or nobody is at work on it. */
function runsUntil(node: Node, slice: Slice): Date | null {
  const { work } = node
  if (workload(node).state !== SLOT.HELD || !work || !isRemoving(node)) return null
  // Until the removal is claimed, its clock is the end of the last lease.
  return inFuture(work.state === WORK_STATE.CLAIMED ? work.leaseUntil : work.dueAt, slice)
}
const inFuture = (at: Date | null, { now }: Slice): Date | null => (at && at > now ? at : null)

/** Frees the slot of a workload that has ended, or waits for its next attempt, unless its process may still run. */
export function freeSlot(node: Node, slice: Slice): void {
  if (workload(node).state !== SLOT.HELD) return
  const until = runsUntil(node, slice)
  if (until) return slice.setWork(node, { dueAt: until })
  if (isRemoving(node)) slice.setWork(node, { dueAt: null })
  slice.setDetails(node, isOver(node.row.phase) ? { state: SLOT.OVER } : { state: SLOT.BACKOFF, placeId: null })
  slice.effect('slotFreed', freed(node))
}

function freed(node: Node): FreedSlot {
  const { pool, limits } = workload(node)
  return { pool, limited: limits ? node.row.id : null }
}

/** Back to the queue for another attempt, once the resources of this one are removed. False: it has no other one. */
function tryAgain(node: Node, ended: WorkloadRetry, slice: Slice, ending: Ending): boolean {
  const { to, actor, error, mayRetry, exitCode = null, signal = null } = ending
  const nextAt = mayRetry && error ? nextStart(node, ended, slice) : null
  if (!nextAt || !error) return false
  // Its output drains within the backoff.
  const drainMs = drains(to, actor) ? Math.min(slice.timeouts.cleanupMs, nextAt.getTime() - slice.now.getTime()) : 0
  const until = mayRunUntil(node, actor, slice)
  const removeAt = scheduleRemoval(node, slice, drainMs)
  if (until) slice.setWork(node, { dueAt: until })
  const { policy, attempts } = ended
  moveWorkload(node, slice, 'PENDING', {
    reason: `retry: attempt ${attempts.length} of ${policy.attempts} ended ${error.code}`,
    message: error.message,
  })
  for (const one of withEvent(node, slice)) slice.setError(one, objectFailure(slice, error.code, error.message))
  if (node.hasProgress) slice.setProgress(node, null)
  slice.setDetails(node, {
    exitCode,
    signal,
    removeAt,
    retry: { ...ended, nextAt: nextAt.toISOString() },
    // Counted there, it could fill the place that it waits for.
    ...(!until && { state: SLOT.BACKOFF, placeId: null }),
  })
  slice.effect('forgetArtifacts', node.row.id)
  if (!until) slice.effect('slotFreed', freed(node))
  slice.touch(node)
  return true
}

/** A workload that ended by itself keeps its resources for a while, so that its output drains. Others lose them at once. */
const drains = (to: Phase, actor: Actor): boolean => actor === 'RUNTIME' && (to === 'SUCCEEDED' || to === 'FAILED')

/** Schedules the removal of its resources by its runtime. Returns the time; null: it has none. */
export function scheduleRemoval(node: Node, slice: Slice, drainMs: number): Date | null {
  const { work } = node
  if (!work) return null
  const { removeAt } = workload(node)
  // Between two attempts the removal is done, or an agent has it.
  if (node.row.phase === 'PENDING' && work.action === 'REMOVE' && work.state !== WORK_STATE.OFFERED) {
    slice.setWork(node, { dueAt: null })
    return removeAt
  }
  if (work.pickedUpAt === null || isParked(node)) {
    // No runtime has started it, so it has no resources, or they are removed.
    slice.setWork(node, {
      state: WORK_STATE.DONE,
      offerAfter: null,
      dueAt: null,
      doneAt: slice.now,
      leaseWatched: false,
    })
    return removeAt
  }
  const at = new Date(slice.now.getTime() + drainMs)
  slice.setWork(node, {
    action: 'REMOVE',
    state: WORK_STATE.OFFERED,
    // The workspace belongs to the worker, so the clean-up of a job does not remove it.
    config: { workspace: node.row.kind === 'WORKER' && workload(node).usesWorkspace ? node.row.id : null },
    // The present fence stays valid until the removal is claimed, so that its agent learns that it was overruled.
    leaseUntil: null,
    offerAfter: drainMs > 0 ? at : null,
    triggeredAt: slice.now,
    dueAt: null,
    leaseWatched: false,
  })
  return at
}

/** Ends a workload whose worker has ended, or that was cancelled: CANCELED if it waits, ABORTED if it has started. */
export function cancelWorkload(
  node: Node,
  slice: Slice,
  { actor, by = null, code, message }: { actor: Actor; by?: Principal | null; code: string; message: string },
): void {
  const to = node.row.phase === 'PENDING' ? 'CANCELED' : 'ABORTED'
  endWorkload(node, slice, { to, actor, by, error: { code, message } })
}

/** Deletes a workload for a user, in any phase, or a job that has ended for the next attempt of its worker. */
export function deleteWorkload(node: Node, slice: Slice, by: Principal, actor: 'USER' | 'CONTROLLER' = 'USER'): void {
  if (isOver(node.row.phase)) removeNow(node, slice)
  else scheduleRemoval(node, slice, 0)
  if (workload(node).state !== SLOT.OVER) slice.effect('slotFreed', freed(node))
  slice.move(node, 'GONE', { actor, by })
}

/** Resources that still drain are removed at once. */
export const removeNow = (node: Node, slice: Slice): void => removeBy(node, slice.now, slice)

/** Resources that drain for longer are removed at this time. */
export function removeBy(node: Node, at: Date, slice: Slice): void {
  const { work } = node
  if (work?.action !== 'REMOVE' || work.state !== WORK_STATE.OFFERED || !work.offerAfter || work.offerAfter <= at)
    return
  scheduleRemoval(node, slice, Math.max(0, at.getTime() - slice.now.getTime()))
}
