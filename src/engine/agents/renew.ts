import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../../core/backoff.ts'
import { Busy } from '../../core/busy.ts'
import { clampLeaseMs } from '../../core/lease.ts'
import type { AgentPort, Renewal } from '../../core/ports/agents.ts'
import { RIGHTS } from '../../core/rights.ts'
import { type OpenedFence, openFence, sameHash } from '../../store/fence.ts'
import { isLockTimeout } from '../../store/lock-timeout.ts'
import { renewLeases } from '../../store/work.ts'
import type { EngineContext } from '../context.ts'
import { REST } from '../lane.ts'
import { requireAgent } from './access.ts'
import type { AgentPresence } from './agent-presence.ts'

type Parts = Pick<EngineContext, 'pool' | 'system' | 'kinds' | 'lockWaits'>
type Lease = Omit<Renewal, 'fence'>

/**
 * How long a renewal waits for trees that others have locked, in milliseconds. The agent repeats the call well before
 * the leases of other trees, which are renewed meanwhile, expire.
 */
const RENEW_WAIT_MS = 4_000

export function renewer(parts: Parts, presence: AgentPresence): AgentPort['renew'] {
  return async (viewer, fences, leaseMs) => {
    const refused = requireAgent(viewer, RIGHTS.reportWork)
    if (refused) return refused
    const opened = fences.map(openFence)
    const known = opened.filter((fence): fence is OpenedFence => fence !== null)
    await presence.renews(viewer, known)
    const holder = { principalId: viewer.principalId, leaseMs: clampLeaseMs(leaseMs), time: parts.system.fixedTime }
    const renewed = await renewAll(parts, known, holder)
    const leases = fences.map((fence, i): Renewal => {
      const lease = opened[i] && renewed.get(keyOf(opened[i]))
      return { fence, ...(lease ?? { state: 'LOST', leaseUntil: null }) }
    })
    return { ok: true, leases }
  }
}

interface Holder {
  readonly principalId: string
  readonly leaseMs: number
  readonly time: Date | null
}

/**
 * Renews leases of unlocked trees at once, so that a locked tree does not cost others theirs, and retries the rest.
 * Only the second attempt waits for the lock on its connection, which succeeds behind a queue of short transactions.
 */
async function renewAll(
  parts: Parts,
  known: readonly OpenedFence[],
  holder: Holder,
): Promise<ReadonlyMap<string, Lease>> {
  const leases = new Map<string, Lease>()
  const startedAt = performance.now()
  let left = known
  for (let attempt = 0; left.length > 0; attempt++) {
    if (attempt > 0) {
      const waitedMs = performance.now() - startedAt
      if (waitedMs >= RENEW_WAIT_MS) throw new Busy(subjectOf(left), { waiting: left.length, waitedMs })
      await delay(backoffMs(attempt, parts.system.random(), REST))
    }
    const renewing = parts.lockWaits.during(attempt === 1, (waits) =>
      renewOnce(parts, left, { ...holder, skipLocked: !waits }),
    )
    const answered = await renewing.catch((error: unknown) => {
      if (isLockTimeout(error)) return NOTHING
      throw error
    })
    for (const [key, lease] of answered.leases) leases.set(key, lease)
    left = answered === NOTHING ? left : answered.locked
  }
  return leases
}

interface Answered {
  readonly leases: ReadonlyMap<string, Lease>
  readonly locked: readonly OpenedFence[]
}
const NOTHING: Answered = { leases: new Map(), locked: [] }

async function renewOnce(
  { pool, kinds }: Parts,
  fences: readonly OpenedFence[],
  by: Holder & { readonly skipLocked: boolean },
): Promise<Answered> {
  const { renewed, locked } = await renewLeases(pool, fences, by)
  const leases = new Map<string, Lease>()
  for (const fence of fences) {
    const lease = renewed.get(fence.objectId)
    // An agent may still have an earlier fence of work that it has claimed anew.
    if (!lease || !sameHash(lease.hash, fence.hash)) continue
    const { abortRequested, leaseUntil } = lease
    leases.set(keyOf(fence), { state: abortRequested ? 'ABORT_REQUESTED' : 'HELD', leaseUntil })
  }
  const others = fences.filter(({ objectId }) => !(renewed.has(objectId) || locked.has(objectId)))
  const renewOthers = () => kinds.families.map((family) => family.renew?.(pool, others, by) ?? [])
  const byFamilies = others.length > 0 ? (await Promise.all(renewOthers())).flat() : []
  const lockedKeys = new Set<string>()
  for (const lease of byFamilies)
    if (lease.leaseUntil) leases.set(keyOf(lease), { state: 'HELD', leaseUntil: lease.leaseUntil })
    else lockedKeys.add(keyOf(lease))
  return {
    leases,
    locked: fences.filter((fence) => locked.has(fence.objectId) || lockedKeys.has(keyOf(fence))),
  }
}

const keyOf = ({ objectId, hash }: { readonly objectId: string; readonly hash: Buffer }): string =>
  `${objectId} ${hash.toString('hex')}`
const subjectOf = ([first, ...others]: readonly OpenedFence[]): string =>
  others.length === 0
    ? `The tree of ${first?.objectId}`
    : `The tree of ${first?.objectId}, or of ${others.length} others,`
