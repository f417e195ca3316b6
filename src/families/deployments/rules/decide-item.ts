import { objectFailure } from '../../../core/errors.ts'
import { hasExpressions } from '../../../core/expression.ts'
import { sameJson } from '../../../core/json.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import {
  type Evaluated,
  isFinished,
  isInBackoff,
  NEW_WORK,
  type Node,
  type Slice,
  WORK_STATE,
  type Work,
} from '../../../core/tree.ts'
import type { WorkAction } from '../../../core/vocabulary.ts'
import { isHeld } from '../../../core/work.ts'
import type { BackoffDecision } from '../../family.ts'
import { resolveLimits } from '../../limit-requests.ts'
import {
  ATTEMPT_TIMEOUT,
  after,
  deadlineOf,
  dueAfterClaim,
  earlier,
  endAttempt,
  isBetweenAttempts,
  isOutdated,
  limit,
  offerNow,
  PROGRESSING_TIMEOUT,
  takePolicy,
  tryAgain,
} from './attempts.ts'
import { deployItem, installation, isCancelled, skipsUninstall } from './details.ts'
import { cancelMessage, type Ending, finish, keep, vanish, whyDeleted } from './finish.ts'
import { exportsByItem } from './for-each.ts'
import { closeGate, isGate, watchGate } from './gate.ts'
import { withLastProblem } from './last-problem.ts'
import { freeLimits, isParked } from './limits.ts'
import { importsFor, mentionedIn } from './mentioned.ts'
import type { ItemSpec } from './spec.ts'

/** A deploy item: triggered when it waits for nothing more, then claimed by a deployer and bounded by its timeouts. */
export function decideItem(item: Node, slice: Slice): void {
  freeLimits(item, slice)
  if (isParked(item)) return awaitLimits(item, slice)
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
  const config = resolve(item, { execution, spec, template: spec.config ?? null }, slice)
  const limits = spec.limits
    ? resolveLimits(spec.limits, (template) => resolve(item, { execution, spec, template }, slice))
    : NO_LIMITS
  if (!config || !limits) return
  const jobId = execution.row.jobId as string
  slice.addChildCounts(execution, { untriggered: -1 })
  slice.touch(execution)
  if (config.ok && isUnchanged(item, config.value, slice)) return keep(item, slice, jobId)
  slice.addChildCounts(execution, { open: 1 })
  slice.patch(item, { jobId, observedGeneration: item.row.generation })
  if (item.error) slice.setError(item, null)
  if (item.hasProgress) slice.setProgress(item, null)
  takePolicy(item, spec, slice)
  if (config.ok && isGate(item)) return closeGate(item, slice, { config: config.value, spec, jobId })
  slice.move(item, 'INIT')
  if (!config.ok) return failAtExpression(item, slice, config.message)
  if (!limits.ok) return failAtExpression(item, slice, limits.message)
  const { requests } = limits
  offer(item, slice, { action: 'RECONCILE', config: config.value, spec, jobId, isParked: requests.length > 0 })
  if (requests.length === 0) return
  // If the lease of an overruled deployer still runs, the item gives back what it holds before it asks anew.
  slice.setDetails(item, { limits: { requests, held: deployItem(item).limits?.held ?? false } })
  slice.touch(item)
}

const NO_LIMITS = { ok: true, requests: [] } as const
const failAtExpression = (item: Node, slice: Slice, message: string): void =>
  finish(item, slice, { to: 'FAILED', error: objectFailure(slice, 'EXPRESSION', message) })

interface Resolving {
  readonly execution: Node
  readonly spec: ItemSpec
  readonly template: unknown
}
function resolve(item: Node, { execution, spec, template }: Resolving, slice: Slice): Evaluated | undefined {
  if (!hasExpressions(template)) return { ok: true, value: template }
  const predecessors = slice.neighbours(item, 'dependencies')
  const owner = slice.parent(execution)
  if (!predecessors || !owner) return undefined
  const { fanned = [], each } = spec
  // Their specs say of which list they are; without a list none is read.
  const specs = fanned.length > 0 ? predecessors.map((p) => slice.spec(p) as ItemSpec | undefined) : []
  if (specs.includes(undefined)) return undefined
  const known = predecessors.map((p, i) => ({
    ...{ name: p.row.name, each: specs[i]?.each ?? null, exports: deployItem(p).exports ?? {} },
  }))
  const isMentioned = mentionedIn(template)
  const deployItems = exportsByItem(
    known.filter(({ name, each: made }) => isMentioned(made?.of ?? name)),
    fanned,
  )
  const imports = importsFor(template, installation(owner).imports ?? {})
  return slice.evaluate(item, template, { imports, deployItems, ...(each && { each }) })
}

function isUnchanged(item: Node, config: unknown, slice: Slice): boolean {
  const { row, work } = item
  return (
    installation(slice.root).mode === 'IF_CHANGED' &&
    row.phase === 'SUCCEEDED' &&
    row.generation === row.observedGeneration &&
    (work?.handed || isGate(item)) &&
    sameJson(work?.handedConfig, config)
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
  // Its attempts are those of the job before: a deletion has no further ones.
  if (deployItem(item).retry) slice.setDetails(item, { retry: null })
  slice.move(item, 'INIT_DELETE', { reason: whyDeleted(execution) })
  // Uses the config that was really deployed, not the wanted one.
  offer(item, slice, { action: 'DELETE', config: work.handedConfig, spec, jobId, isParked: false })
}

interface Offer {
  readonly action: WorkAction
  readonly config: unknown
  readonly spec: ItemSpec
  readonly jobId: string
  /** It is offered once it is granted its limits. */
  readonly isParked: boolean
}

function offer(item: Node, slice: Slice, { action, config, spec, jobId, isParked }: Offer): void {
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
    ...(isParked
      ? { state: WORK_STATE.DONE, offerAfter: null }
      : { dueAt: after(offerAfter ?? now, limit(spec.timeouts.pickup, timeouts.pickupMs)) }),
  })
}

/** An item that is not offered: it waits for the time of its next attempt, if it has had one, and then for its limits. */
function awaitLimits(item: Node, slice: Slice): void {
  const { work } = item
  const { limits } = deployItem(item)
  if (!work || !limits) return
  if (isCancelled(slice)) return abort(item, slice, cancelMessage(slice))
  const isFirst = work.pickedUpAt === null
  if (!isFirst && isOutdated(slice)) return endRetries(item, slice)
  const deadline = deadlineOf(item)
  if (deadline && deadline <= slice.now)
    return giveUp(item, slice, 'PROGRESSING_TIMEOUT', withLastProblem(NOT_IN_TIME, item.error?.message))
  // An overruled deployer of the job before, or of the last attempt, may still be at work.
  if (limits.held) return
  if (work.offerAfter && work.offerAfter > slice.now) return slice.setClock(item, earlier(work.offerAfter, deadline))
  if (slice.isPaused) {
    // Its turn is that of those behind it.
    if (item.clock?.getTime() !== deadline?.getTime()) slice.effect('limitsPassed', item.row.id)
    return slice.setClock(item, deadline)
  }
  const spec = slice.spec(item) as ItemSpec | undefined
  if (!spec) return
  const now = slice.now.toISOString()
  const grant = slice.ask('limits', { id: item.row.id, limits: limits.requests, now })
  if (!grant) return
  if (grant.leads) slice.effect('limitsPassed', null)
  if (!grant.isGranted) return slice.setClock(item, earlier(grant.dueAt, deadline))
  slice.setClock(item, null)
  slice.setDetails(item, { limits: { ...limits, held: true } })
  if (!isFirst) return offerNow(item, slice)
  const busyUntil = work.leaseUntil && work.leaseUntil > slice.now ? work.leaseUntil : null
  slice.setWork(item, {
    ...{ state: WORK_STATE.OFFERED, leaseUntil: busyUntil, offerAfter: busyUntil, triggeredAt: slice.now },
    dueAt: after(busyUntil ?? slice.now, limit(spec.timeouts.pickup, slice.timeouts.pickupMs)),
  })
}
const NOT_IN_TIME = 'Its limits were used up until its time was over.'

/** A triggered item: cancelled, or one of its timeouts is due. */
function watch(item: Node, slice: Slice): void {
  const { work } = item
  if (!work) return
  if (isGate(item)) return watchGate(item, slice)
  if (isCancelled(slice) && !work.abortRequestedAt) {
    const by = installation(slice.root).cancelBy
    return stop(item, work, slice, 'ABORTED', by ? `Cancelled by ${by}.` : 'Cancelled.')
  }
  // Its deployer has been asked to stop already, and there is no next attempt to stop for.
  if (isCancelled(slice) && work.abortCode === ATTEMPT_TIMEOUT) slice.setWork(item, { abortCode: 'ABORTED' })
  if (isCancelled(slice) && !work.leaseWatched) slice.setWork(item, { leaseWatched: true })
  if (isBetweenAttempts(item) && isOutdated(slice)) return endRetries(item, slice)
  if (isLostAttempt(item.work ?? work, slice)) return endLost(item, slice)
  if (!work.dueAt || work.dueAt > slice.now || (slice.isPaused && isHeld(work))) return
  if (work.abortRequestedAt) return giveUp(item, slice, 'ABORTING_TIMEOUT', 'It was asked to stop and did not in time.')
  const deadline = deadlineOf(item)
  const isLast = deadline !== null && deadline <= slice.now
  if (!isLast && (!work.pickedUpAt || isBetweenAttempts(item))) {
    const message = withLastProblem(`No deployer of type ${work.type} picked it up in time.`, item.error?.message)
    return giveUp(item, slice, 'PICKUP_TIMEOUT', message)
  }
  if (!isLast) return stop(item, work, slice, ATTEMPT_TIMEOUT, tookTooLong('nobody was at work'))
  const message = withLastProblem('Its deployer did not finish in time.', item.error?.message)
  stop(item, work, slice, PROGRESSING_TIMEOUT, message)
}

const tookTooLong = (how: string): string => `The attempt took too long, and ${how}.`

/** Its agent was asked to stop and has not answered, and its lease has ended. */
const isLostAttempt = ({ abortCode, leaseUntil, leaseWatched, state }: Work, { now }: Slice): boolean =>
  abortCode !== null && leaseWatched && state === WORK_STATE.CLAIMED && leaseUntil !== null && leaseUntil <= now

/** Ends an item whose agent is lost as if it had stopped on request. */
function endLost(item: Node, slice: Slice): void {
  const code = item.work?.abortCode
  if (code === ATTEMPT_TIMEOUT) return giveUp(item, slice, code, tookTooLong('its agent is lost'))
  if (code !== PROGRESSING_TIMEOUT || isCancelled(slice)) return abort(item, slice, 'Cancelled, and its agent is lost.')
  giveUp(item, slice, code, 'Its deployer did not finish in time, and is lost.')
}

/** Ends cancelled work that no agent has, or that its agent has lost. */
function abort(item: Node, slice: Slice, message: string): void {
  if (item.row.deletionRequestedAt !== null) return giveUp(item, slice, 'ABORTED', message)
  const error = objectFailure(slice, 'ABORTED', message)
  endAttempt(item, error, slice)
  finish(item, slice, { to: 'ABORTED', error })
}

/** The failure of the last attempt becomes that of the item. */
export function endRetries(item: Node, slice: Slice, ending: Pick<Ending, 'actor' | 'by'> = {}): void {
  const { code, message } = item.error ?? { code: 'FAILED', message: 'Its last attempt failed.' }
  finish(item, slice, { to: 'FAILED', error: objectFailure(slice, code, message), ...ending })
}

function stop(item: Node, work: Work, slice: Slice, code: string, message: string): void {
  const { now } = slice
  if (work.state !== WORK_STATE.CLAIMED)
    return code === 'ABORTED' ? abort(item, slice, message) : giveUp(item, slice, code, message)
  // It ends when its agent has answered, or is lost.
  const asked = { abortRequestedAt: now, abortCode: code, dueAt: after(now, work.abortingMs), leaseWatched: true }
  slice.setWork(item, asked)
  if (isLostAttempt({ ...work, ...asked }, slice)) endLost(item, slice)
}

function giveUp(item: Node, slice: Slice, code: string, message: string): void {
  const deleting = item.row.deletionRequestedAt !== null
  const isOfAttempt =
    code === ATTEMPT_TIMEOUT || (code === 'ABORTING_TIMEOUT' && item.work?.abortCode === ATTEMPT_TIMEOUT)
  if (isOfAttempt && tryAgain(item, { code, message }, { answered: false }, slice)) return
  endAttempt(item, { code, message }, slice)
  finish(item, slice, { to: deleting ? 'DELETE_FAILED' : 'FAILED', error: objectFailure(slice, code, message) })
}

/** A user's decision about an item between two attempts; false: it is not. */
export function resolveBackoff(item: Node, decision: BackoffDecision, by: Principal, slice: Slice): boolean {
  const { work } = item
  if (!isBetweenAttempts(item) || !work || !isInBackoff({ ...work, state: WORK_STATE.OFFERED }, slice.now)) return false
  if (decision === 'GIVE_UP') endRetries(item, slice, { actor: 'USER', by })
  else {
    if (isParked(item)) {
      slice.setWork(item, { offerAfter: null })
      slice.touch(item)
    } else offerNow(item, slice)
    slice.recordRequest(item, { by, reason: 'retry requested', message: `Requested by ${by.name}.` })
  }
  return true
}

/** The claim counts as the pickup. */
export function claimItem(item: Node, by: Principal, slice: Slice): void {
  const { work } = item
  if (!work) return
  const pickedUpAt = work.pickedUpAt ?? slice.now
  // The timeout starts at the first pickup in this job; a new attempt does not restart it.
  slice.setWork(item, {
    pickedUpAt,
    dueAt: dueAfterClaim(item, pickedUpAt, slice),
    handed: true,
    handedConfig: work.config,
  })
  const claimed = { actor: 'DEPLOYER', by, reason: `claimed by ${work.instance ?? by.name}` } as const
  if (item.row.phase === 'INIT') slice.move(item, 'PROGRESSING', claimed)
  else if (item.row.phase === 'INIT_DELETE') slice.move(item, 'DELETING', claimed)
}
