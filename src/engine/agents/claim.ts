import { forbidden, invalidInput } from '../../core/errors.ts'
import { clampLeaseMs, isExpired, leaseFrom } from '../../core/lease.ts'
import type { AgentPort, ClaimedItem, Viewer } from '../../core/ports.ts'
import { WORK_STATE } from '../../core/tree.ts'
import { findCandidates } from '../../store/work.ts'
import type { Draft } from '../draft.ts'
import { FENCE_SECRET_BYTES, hashOf, makeFence } from '../fence.ts'
import type { TreeRunner } from '../runner.ts'
import type { TreeSlice } from '../slice.ts'
import type { EngineParts } from '../transaction.ts'
import { MAX_BATCH, mayDrive, mayNotWork, within } from './access.ts'
import type { Attendance } from './attendance.ts'

/** Candidates may have gone to somebody else meanwhile: then others are looked for. */
const CLAIM_ROUNDS = 3

/** Takes triggered work, tree by tree; the claim itself is the pickup. */
export function claimer(parts: EngineParts, runner: TreeRunner, attendance: Attendance): AgentPort['claim'] {
  return async (viewer, request) => {
    const refused = mayNotWork(viewer) ?? mayNotClaim(viewer, request)
    if (refused) return refused
    const { types, instance } = request
    const targets = within(viewer.targets, request.targets)
    await attendance.claims(viewer, instance, types, targets)
    const claiming: Claiming = { viewer, request, leaseMs: clampLeaseMs(request.leaseMs), parts }
    const items: ClaimedItem[] = []
    for (let round = 0; round < CLAIM_ROUNDS && items.length < request.max; round++) {
      const { projects } = viewer
      const wanted = { types, targets, projects, now: parts.ambient.now(), max: request.max - items.length }
      const candidates = await findCandidates(parts.pool, wanted)
      if (candidates.length === 0) break
      const byRoot = Map.groupBy(candidates, (candidate) => candidate.rootId)
      const claims = [...byRoot].map(([rootId, of]) => {
        const ids = of.map(({ objectId }) => objectId)
        return runner.run(rootId, { ids, apply: (slice) => claimAll(slice, ids, claiming) })
      })
      for (const ran of await Promise.all(claims)) if (ran.found) items.push(...ran.value)
    }
    return { ok: true, items }
  }
}

function mayNotClaim(viewer: Viewer, { types, max }: { readonly types: readonly string[]; readonly max: number }) {
  const foreign = types.filter((type) => viewer.types !== null && !viewer.types.includes(type))
  if (foreign.length > 0) {
    const message = `This token may claim only work of the types ${viewer.types?.join(', ')}.`
    return { ok: false, refusal: forbidden(message) } as const
  }
  if (max >= 1 && max <= MAX_BATCH) return null
  const fields = [{ path: 'input.max', message: `must be between 1 and ${MAX_BATCH}` }]
  return { ok: false, refusal: invalidInput(fields) } as const
}

interface Claiming {
  readonly viewer: Viewer
  readonly request: { readonly instance: string }
  readonly leaseMs: number
  readonly parts: EngineParts
}

/** Under the tree's lock: whatever is still to be had is claimed, and the claim is the pickup. */
function claimAll(slice: TreeSlice, ids: readonly string[], claiming: Claiming): ClaimedItem[] {
  const { viewer, parts } = claiming
  return ids.flatMap((id) => {
    const draft = slice.nodes.get(id)
    if (!draft || !mayDrive(viewer, draft.row.kind, parts.kinds)) return []
    // What a timeout or a cancel has ended is not worked on, even if no engine has looked since.
    slice.look(draft, () => parts.kinds.family(draft.row.kind).decide(draft, slice))
    return isClaimable(draft, slice.now) ? [claimOne(draft, slice, claiming)] : []
  })
}

function isClaimable({ work }: Draft, now: Date): boolean {
  if (!work || work.abortRequestedAt) return false
  if (work.state === WORK_STATE.OFFERED) return !work.offerAfter || work.offerAfter <= now
  return work.state === WORK_STATE.CLAIMED && isExpired(work.leaseUntil, now)
}

function claimOne(draft: Draft, slice: TreeSlice, { viewer, request, leaseMs, parts }: Claiming): ClaimedItem {
  const secret = parts.ambient.secret(FENCE_SECRET_BYTES)
  const attempt = (draft.work?.attempt ?? 0) + 1
  const leaseUntil = leaseFrom(slice.now, leaseMs)
  slice.setWork(draft, {
    state: WORK_STATE.CLAIMED,
    fenceHash: hashOf(secret),
    principal: viewer.name,
    instance: request.instance,
    attempt,
    leaseUntil,
    offerAfter: null,
  })
  parts.kinds.family(draft.row.kind).claimed(draft, viewer.name, slice)
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
