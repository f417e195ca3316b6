import type { ObjectFailure } from '../../../core/errors.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { type MoveOptions, type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { Actor, Phase } from '../../../core/vocabulary.ts'
import { isOver, SLOT, workload } from './details.ts'

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
  readonly error: { readonly code: string; readonly message: string } | null
  readonly exitCode?: number | null
  readonly signal?: string | null
}

/** Ends a workload: frees its slot, schedules the removal of its resources, and touches its jobs. */
export function endWorkload(node: Node, slice: Slice, ending: Ending): void {
  const { to, actor, by = null, error } = ending
  const failure = error && failureOf(error, slice)
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
    state: SLOT.OVER,
    endedAt: slice.now,
    exitCode: ending.exitCode ?? null,
    signal: ending.signal ?? null,
    removeAt: scheduleRemoval(node, slice, drains(to, actor)),
  })
  slice.effect('slotFreed', workload(node).pool)
  slice.touch(node)
}

/** A workload that ended by itself keeps its resources for a while, so that its output drains. Others lose them at once. */
const drains = (to: Phase, actor: Actor): boolean => actor === 'RUNTIME' && (to === 'SUCCEEDED' || to === 'FAILED')

/** Schedules the removal of its resources by its runtime. Returns the time; null: it has none. */
export function scheduleRemoval(node: Node, slice: Slice, drain: boolean): Date | null {
  const { work } = node
  if (!work) return null
  if (work.pickedUpAt === null) {
    // No runtime has started it, so it has no resources.
    slice.setWork(node, { state: WORK_STATE.DONE, dueAt: null, doneAt: slice.now, leaseWatched: false })
    return null
  }
  const at = drain ? new Date(slice.now.getTime() + slice.timeouts.cleanupMs) : slice.now
  slice.setWork(node, {
    action: 'REMOVE',
    state: WORK_STATE.OFFERED,
    // The workspace belongs to the worker, so the clean-up of a job does not remove it.
    config: { workspace: node.row.kind === 'WORKER' && workload(node).usesWorkspace ? node.row.id : null },
    // The present fence stays valid until the removal is claimed, so that its agent learns that it was overruled.
    leaseUntil: null,
    offerAfter: drain ? at : null,
    triggeredAt: slice.now,
    dueAt: null,
    leaseWatched: false,
  })
  return at
}

const failureOf = ({ code, message }: { code: string; message: string }, slice: Slice): ObjectFailure => ({
  code,
  message,
  at: slice.now.toISOString(),
  causeCount: 0,
  causes: [],
})

/** Ends a workload whose worker has ended, or that was cancelled: CANCELED if it waits, ABORTED if it has started. */
export function cancelWorkload(
  node: Node,
  slice: Slice,
  { actor, by = null, code, message }: { actor: Actor; by?: Principal | null; code: string; message: string },
): void {
  const to = node.row.phase === 'PENDING' ? 'CANCELED' : 'ABORTED'
  endWorkload(node, slice, { to, actor, by, error: { code, message } })
}

/** Deletes a workload for a user, in any phase. */
export function deleteWorkload(node: Node, slice: Slice, by: Principal): void {
  const details = workload(node)
  if (isOver(node.row.phase)) removeNow(node, slice)
  else {
    scheduleRemoval(node, slice, false)
    slice.effect('slotFreed', details.pool)
  }
  slice.move(node, 'GONE', { actor: 'USER', by })
}

/** Resources that still drain are removed at once. */
function removeNow(node: Node, slice: Slice): void {
  const { work } = node
  if (work?.action === 'REMOVE' && work.state === WORK_STATE.OFFERED && work.offerAfter)
    scheduleRemoval(node, slice, false)
}
