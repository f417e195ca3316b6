import { isExpired } from '../../../core/lease.ts'
import { NEW_WORK, type Node, type Slice, WORK_STATE, type Work } from '../../../core/tree.ts'
import { type Clock, clocksOf } from './clocks.ts'
import { isOver, SLOT, workload } from './details.ts'
import { cancelWorkload, endWorkload, moveWorkload } from './end-workload.ts'
import type { Unplaced } from './placement-problem.ts'

/** Rules of a worker or job: it waits for a slot, is started, and is watched until it ends. */
export function decideWorkload(node: Node, slice: Slice): void {
  if (isOver(node.row.phase)) return node.row.kind === 'WORKER' ? endJobs(node, slice) : undefined
  if (node.row.kind === 'JOB' && hasNoWorker(node, slice)) {
    return cancelWorkload(node, slice, { actor: 'CONTROLLER', code: 'WORKER_ENDED', message: 'Its worker has ended.' })
  }
  if (node.row.phase === 'PENDING') admit(node, slice)
  else watch(node, slice)
}

/** The rules of each job react to the end of its worker. */
function endJobs(worker: Node, slice: Slice): void {
  const jobs = slice.children(worker)
  for (const job of jobs ?? []) if (!isOver(job.row.phase)) slice.touch(job)
}

function hasNoWorker(job: Node, slice: Slice): boolean {
  const worker = slice.parent(job)
  return !worker || isOver(worker.row.phase)
}

function admit(node: Node, slice: Slice): void {
  const { pool, runtime, timeoutMs, targetLabels } = workload(node)
  const granted = slice.ask<boolean>('slot', { id: node.row.id, pool })
  if (!granted) return
  const jobId = slice.newId()
  slice.patch(node, { jobId, observedGeneration: node.row.generation })
  const event = node.row.kind === 'WORKER' ? slice.parent(node) : null
  if (event) slice.patch(event, { jobId, observedGeneration: event.row.generation })
  slice.setDetails(node, { state: SLOT.HELD })
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

/** A job that uses its worker's workspace is started where the worker runs. */
function runtimeTarget(node: Node, slice: Slice): string | null {
  const isGuest = node.row.kind === 'JOB' && workload(node).usesWorkspace
  return isGuest ? (slice.parent(node)?.work?.target ?? null) : null
}

/** The claim counts as the pickup. From then on the workload stays with this runtime, which may have started it. */
export function claimWorkload(node: Node, _by: unknown, slice: Slice, placeId: string | null): void {
  const { work } = node
  if (work?.action !== 'START') return
  slice.setWork(node, { pickedUpAt: work.pickedUpAt ?? slice.now, target: work.instance, leaseWatched: true })
  if (!workload(node).startedAt) slice.setDetails(node, { startedAt: slice.now, placeId })
  setClock(node, slice)
}

const clocks = (node: Node, slice: Slice): readonly Clock[] =>
  clocksOf({ ...node.row, work: node.work, removal: null }, slice.timeouts)

/** Called after every change of a timeout. */
export function setClock(node: Node, slice: Slice): void {
  slice.setWork(node, { dueAt: clocks(node, slice)[0]?.expiresAt ?? null })
}

function watch(node: Node, slice: Slice): void {
  const { work } = node
  if (work?.action !== 'START') return
  const due = clocks(node, slice).find(({ expiresAt }) => expiresAt <= slice.now)
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
  const unplaced = slice.ask<Unplaced | null>('unplaced', { pool, projectId, type, target, targetLabels, now })
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
    timeout: { code: 'TIMEOUT', message: `It took longer than ${seconds} s.` },
    lost: { code: 'RUNTIME_LOST', message: `Its runtime ${work.instance} did not come back within ${seconds} s.` },
    removal: null,
  }[name]
  if (to) endWorkload(node, slice, { to, actor: 'CONTROLLER', error })
}
