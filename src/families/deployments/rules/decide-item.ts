import { hasExpressions } from '../../../core/expression.ts'
import { sameJson } from '../../../core/json.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import {
  type Evaluated,
  isFinished,
  NEW_WORK,
  type Node,
  type Slice,
  WORK_STATE,
  type Work,
} from '../../../core/tree.ts'
import type { WorkAction } from '../../../core/vocabulary.ts'
import { deployItem, installation, isCancelled, skipsUninstall } from './details.ts'
import { failure, finish, keep, vanish, whyDeleted } from './finish.ts'
import { withLastProblem } from './last-problem.ts'
import type { ItemSpec, Timeout } from './spec.ts'

/** A deploy item: triggered when it waits for nothing more, then claimed by a deployer and bounded by its timeouts. */
export function decideItem(item: Node, slice: Slice): void {
  if (!isFinished(item.row)) return watch(item, slice)
  const execution = slice.parent(item)
  if (!execution || !mayBeTriggered(item, execution, slice)) return
  if (item.row.deletionRequestedAt) triggerDeletion(item, execution, slice)
  else if (execution.row.phase === 'PROGRESSING') trigger(item, execution, slice)
}

function mayBeTriggered(item: Node, execution: Node, slice: Slice): boolean {
  return (
    execution.row.jobId !== null &&
    item.row.jobId !== execution.row.jobId &&
    item.row.waitingFor === 0 &&
    // Class B: an item has failed, so nothing more is triggered.
    execution.childCounts.failed === 0 &&
    !isFinished(execution.row) &&
    !isCancelled(slice)
  )
}

function trigger(item: Node, execution: Node, slice: Slice): void {
  const spec = slice.spec(item) as ItemSpec | undefined
  if (!spec) return
  const config = resolveConfig(item, execution, spec, slice)
  if (!config) return
  const jobId = execution.row.jobId as string
  slice.addChildCounts(execution, { untriggered: -1 })
  slice.touch(execution)
  if (config.ok && isUnchanged(item, config.value, slice)) return keep(item, slice, jobId)
  slice.addChildCounts(execution, { open: 1 })
  slice.patch(item, { jobId, observedGeneration: item.row.generation })
  if (item.error) slice.setError(item, null)
  if (item.hasProgress) slice.setProgress(item, null)
  slice.move(item, 'INIT')
  if (config.ok) offer(item, slice, { action: 'RECONCILE', config: config.value, spec, jobId })
  else finish(item, slice, { to: 'FAILED', error: failure(slice, 'EXPRESSION', config.message) })
}

function resolveConfig(item: Node, execution: Node, spec: ItemSpec, slice: Slice): Evaluated | undefined {
  if (!hasExpressions(spec.config)) return { ok: true, value: spec.config ?? null }
  const predecessors = slice.neighbours(item, 'dependencies')
  const owner = slice.parent(execution)
  if (!predecessors || !owner) return undefined
  const deployItems = Object.fromEntries(
    predecessors.map((p) => [p.row.name, { exports: deployItem(p).exports ?? {} }]),
  )
  return slice.evaluate(item, spec.config, { imports: installation(owner).imports ?? {}, deployItems })
}

function isUnchanged(item: Node, config: unknown, slice: Slice): boolean {
  const { row, work } = item
  return (
    installation(slice.root).mode === 'IF_CHANGED' &&
    row.phase === 'SUCCEEDED' &&
    row.generation === row.observedGeneration &&
    work?.handed === true &&
    sameJson(work.handedConfig, config)
  )
}

function triggerDeletion(item: Node, execution: Node, slice: Slice): void {
  const { work } = item
  const jobId = execution.row.jobId as string
  if (!work?.handed || skipsUninstall(slice)) {
    slice.patch(item, { jobId })
    if (item.row.phase !== 'PENDING') slice.move(item, 'INIT_DELETE', { reason: whyDeleted(execution) })
    return vanish(item, slice, {
      triggered: false,
      reason: work?.handed ? 'deleted without uninstalling' : 'never deployed',
    })
  }
  const spec = slice.spec(item) as ItemSpec | undefined
  if (!spec) return
  slice.addChildCounts(execution, { untriggered: -1, open: 1 })
  slice.patch(item, { jobId })
  if (item.error) slice.setError(item, null)
  slice.move(item, 'INIT_DELETE', { reason: whyDeleted(execution) })
  // Uses the config that was really deployed, not the wanted one.
  offer(item, slice, { action: 'DELETE', config: work.handedConfig, spec, jobId })
}

interface Offer {
  readonly action: WorkAction
  readonly config: unknown
  readonly spec: ItemSpec
  readonly jobId: string
}

function offer(item: Node, slice: Slice, { action, config, spec, jobId }: Offer): void {
  const { timeouts, now } = slice
  const { type, target } = deployItem(item)
  // A deployer that was overruled may work until its lease ends, so nobody may claim the item before that.
  const lease = item.work?.leaseUntil
  const offerAfter = lease && lease > now ? lease : null
  slice.setWork(item, {
    ...NEW_WORK,
    type,
    target,
    action,
    config,
    jobId,
    // Kept for the next job, in case no deployer picks the item up in this one.
    leaseUntil: offerAfter,
    offerAfter,
    triggeredAt: now,
    progressingMs: limit(spec.timeouts.progressing, timeouts.progressingMs),
    abortingMs: limit(spec.timeouts.aborting, timeouts.abortingMs),
    dueAt: after(offerAfter ?? now, limit(spec.timeouts.pickup, timeouts.pickupMs)),
  })
}

const limit = (timeout: Timeout | undefined, byDefault: number): number | null =>
  timeout === undefined ? byDefault : 'ms' in timeout ? timeout.ms : null
const after = (since: Date, ms: number | null): Date | null => (ms === null ? null : new Date(since.getTime() + ms))

/** A triggered item: cancelled, or one of its three timeouts is due. */
function watch(item: Node, slice: Slice): void {
  const { work } = item
  if (!work) return
  if (isCancelled(slice) && !work.abortRequestedAt) {
    const by = installation(slice.root).cancelBy
    return stop(item, work, slice, 'ABORTED', by ? `Cancelled by ${by}.` : 'Cancelled.')
  }
  if (!work.dueAt || work.dueAt > slice.now) return
  if (work.abortRequestedAt) return giveUp(item, slice, 'ABORTING_TIMEOUT', 'It was asked to stop and did not in time.')
  if (!work.pickedUpAt) {
    return giveUp(item, slice, 'PICKUP_TIMEOUT', `No deployer of type ${work.type} picked it up in time.`)
  }
  const message = withLastProblem('Its deployer did not finish in time.', item.error?.message)
  stop(item, work, slice, 'PROGRESSING_TIMEOUT', message)
}

function stop(item: Node, work: Work, slice: Slice, code: string, message: string): void {
  const { now } = slice
  if (work.state !== WORK_STATE.CLAIMED) {
    if (item.row.phase !== 'INIT' || code !== 'ABORTED') return giveUp(item, slice, code, message)
    return finish(item, slice, { to: 'ABORTED', error: failure(slice, code, message) })
  }
  slice.setWork(item, { abortRequestedAt: now, abortCode: code, dueAt: after(now, work.abortingMs) })
}

function giveUp(item: Node, slice: Slice, code: string, message: string): void {
  const deleting = item.row.deletionRequestedAt !== null
  finish(item, slice, { to: deleting ? 'DELETE_FAILED' : 'FAILED', error: failure(slice, code, message) })
}

/** The claim counts as the pickup. */
export function claimItem(item: Node, by: Principal, slice: Slice): void {
  const { work } = item
  if (!work) return
  const pickedUpAt = work.pickedUpAt ?? slice.now
  // The timeout starts at the first pickup in this job; a new attempt does not restart it.
  slice.setWork(item, {
    pickedUpAt,
    dueAt: work.pickedUpAt ? work.dueAt : after(pickedUpAt, work.progressingMs),
    handed: true,
    handedConfig: work.config,
  })
  const claimed = { actor: 'DEPLOYER', by, reason: `claimed by ${work.instance ?? by.name}` } as const
  if (item.row.phase === 'INIT') slice.move(item, 'PROGRESSING', claimed)
  else if (item.row.phase === 'INIT_DELETE') slice.move(item, 'DELETING', claimed)
}
