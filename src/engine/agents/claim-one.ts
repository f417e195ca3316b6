import { isExpired, leaseFrom } from '../../core/lease.ts'
import type { ClaimedItem, Viewer } from '../../core/ports.ts'
import { WORK_STATE } from '../../core/tree.ts'
import { FENCE_SECRET_BYTES, hashOf, makeFence } from '../../store/fence.ts'
import type { Draft } from '../draft.ts'
import type { TreeSlice } from '../slice.ts'
import type { EngineParts } from '../transaction.ts'

/** Who claims. */
export interface Claimant {
  readonly viewer: Viewer
  readonly instance: string
  readonly leaseMs: number
}

export function isClaimable({ work }: Draft, now: Date): boolean {
  if (!work || work.abortRequestedAt) return false
  if (work.state === WORK_STATE.OFFERED) return !work.offerAfter || work.offerAfter <= now
  return work.state === WORK_STATE.CLAIMED && isExpired(work.leaseUntil, now)
}

/** Gives claimable work to somebody, under the tree's lock: the claim is the pickup. */
export function claimOne(
  draft: Draft,
  slice: TreeSlice,
  { viewer, instance, leaseMs }: Claimant,
  { ambient, kinds }: EngineParts,
): ClaimedItem {
  const secret = ambient.secret(FENCE_SECRET_BYTES)
  const attempt = (draft.work?.attempt ?? 0) + 1
  const leaseUntil = leaseFrom(slice.now, leaseMs)
  slice.setWork(draft, {
    state: WORK_STATE.CLAIMED,
    fenceHash: hashOf(secret),
    principal: viewer.name,
    instance,
    attempt,
    leaseUntil,
    offerAfter: null,
  })
  kinds.family(draft.row.kind).claimed(draft, viewer.name, slice)
  const { action, type, target, config } = draft.work as NonNullable<Draft['work']>
  const { id, kind, name, jobId } = draft.row
  return {
    fence: makeFence(id, secret),
    objectId: id,
    kind,
    name,
    jobId,
    action,
    type,
    target,
    config,
    attempt,
    leaseUntil,
  }
}
