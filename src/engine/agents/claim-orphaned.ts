import { clampLeaseMs } from '../../core/lease.ts'
import type { ClaimedItem } from '../../core/ports/agents.ts'
import { FENCE_SECRET_BYTES, hashOf, makeFence } from '../../store/fence.ts'
import { claimOrphanedWork, findOrphanedWork } from '../../store/orphaned-work.ts'
import type { EngineParts } from '../parts.ts'
import { canDrive } from './access.ts'
import type { Claimant } from './claimant.ts'

/** Claims orphaned work: the clean-up after objects that are gone. */
export async function claimOrphaned(
  objectIds: readonly string[],
  { viewer, instance, leaseMs }: Claimant,
  { pool, system, kinds }: EngineParts,
): Promise<readonly ClaimedItem[]> {
  if (objectIds.length === 0) return []
  const orphaned = (await findOrphanedWork(pool, objectIds)).filter(({ kind }) => canDrive(viewer, kind, kinds))
  if (orphaned.length === 0) return []
  const claims = orphaned.map((work) => ({ ...work, secret: system.secret(FENCE_SECRET_BYTES) }))
  const claimed = await claimOrphanedWork(
    pool,
    claims.map(({ objectId, secret }) => ({ objectId, fenceHash: hashOf(secret) })),
    { principalId: viewer.principalId, instance, leaseMs: clampLeaseMs(leaseMs), time: system.fixedTime },
  )
  return claims.flatMap(({ secret, attempt, ...work }) => {
    const leaseUntil = claimed.get(work.objectId)
    if (!leaseUntil) return []
    const fence = makeFence(work.objectId, secret)
    return [{ ...work, fence, projectId: null, attempt: attempt + 1, leaseUntil, traceparent: null }]
  })
}
