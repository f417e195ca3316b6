import { isDue } from '../../core/deadline.ts'
import { leaseFrom } from '../../core/lease.ts'
import type { ClaimedItem } from '../../core/ports/agents.ts'
import { type MoveOptions, WORK_STATE, type Work } from '../../core/tree.ts'
import { isHeld } from '../../core/work.ts'
import { FENCE_SECRET_BYTES, hashOf, makeFence } from '../../store/fence.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'
import type { TrackedObject } from '../tracked-object.ts'
import type { TransactionTrace } from '../transaction-trace.ts'
import type { Claimant } from './claimant.ts'
import { type LockedPlaces, startOf } from './locked-places.ts'

/** The context of a claim: its trace and place. */
export interface ClaimContext {
  /** Null: nothing is traced. */
  readonly trace: TransactionTrace | null
  readonly via: 'claim' | 'dispatch'
  readonly places: LockedPlaces
}

export function isClaimable({ work }: TrackedObject, { now, isPaused }: Pick<TreeSlice, 'now' | 'isPaused'>): boolean {
  if (!work || work.abortRequestedAt || (isPaused && isHeld(work))) return false
  if (work.state === WORK_STATE.OFFERED) return !work.offerAfter || work.offerAfter <= now
  // Work that is claimed without a lease is no agent's.
  return work.state === WORK_STATE.CLAIMED && isDue(work.leaseUntil, now)
}

/** Claims work for an agent under the tree's lock; the claim counts as the pickup. */
export function claimOne(
  tracked: TrackedObject,
  slice: TreeSlice,
  claimant: Claimant,
  parts: EngineParts,
  { trace, via, places }: ClaimContext,
): ClaimedItem {
  const { viewer, instance, leaseMs } = claimant
  const { system, kinds } = parts
  const place = startOf(tracked, parts) && places.find(claimant, tracked)
  if (place) places.started(claimant, tracked)
  const secret = system.secret(FENCE_SECRET_BYTES)
  const attempt = (tracked.work?.attempt ?? 0) + 1
  const leaseUntil = leaseFrom(slice.now, leaseMs)
  const lost = tracked.work?.state === WORK_STATE.CLAIMED ? tracked.work : null
  slice.setWork(tracked, {
    state: WORK_STATE.CLAIMED,
    fenceHash: hashOf(secret),
    principalId: viewer.principalId,
    instance,
    attempt,
    leaseUntil,
    offerAfter: null,
  })
  kinds.family(tracked.row.kind).claimed(tracked, viewer, slice, place?.id ?? null)
  // The phase stays, so no other record of the log says that another agent has it.
  if (lost) slice.recordRequest(tracked, takeover(lost, claimant))
  const { action, type, target, config } = tracked.work as NonNullable<TrackedObject['work']>
  const { id, projectId, kind, name, jobId } = tracked.row
  return {
    fence: makeFence(id, secret),
    objectId: id,
    projectId,
    kind,
    name,
    jobId,
    action,
    type,
    target,
    config,
    attempt,
    leaseUntil,
    traceparent: trace ? trace.handed(tracked, instance, via) : (tracked.work?.traceparent ?? null),
  }
}

const takeover = (lost: Work, { viewer, instance }: Claimant): MoveOptions => ({
  actor: viewer.actor,
  by: viewer,
  reason: `taken over by ${instance}`,
  message: `The lease of ${lost.instance} ended at ${lost.leaseUntil?.toISOString()} without a renewal.`,
})
