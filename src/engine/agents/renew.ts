import { clampLeaseMs } from '../../core/lease.ts'
import type { AgentPort, Renewal } from '../../core/ports/agents.ts'
import { RIGHTS } from '../../core/rights.ts'
import { type OpenedFence, openFence } from '../../store/fence.ts'
import { renewLeases } from '../../store/work.ts'
import type { EngineParts } from '../parts.ts'
import { requireAgent } from './access.ts'
import type { AgentPresence } from './agent-presence.ts'

export function renewer({ pool, system, kinds }: EngineParts, presence: AgentPresence): AgentPort['renew'] {
  return async (viewer, fences, leaseMs) => {
    const refused = requireAgent(viewer, RIGHTS.reportWork)
    if (refused) return refused
    const opened = fences.map(openFence)
    const known = opened.filter((fence): fence is OpenedFence => fence !== null)
    await presence.renews(viewer, known)
    const holder = { principalId: viewer.principalId, leaseMs: clampLeaseMs(leaseMs), time: system.fixedTime }
    const renewed = known.length > 0 ? await renewLeases(pool, known, holder) : []
    const byId = new Map(renewed.map((lease) => [lease.objectId, lease]))
    const others = known.filter(({ objectId }) => !byId.has(objectId))
    const renewOthers = () => kinds.families.map((family) => family.renew?.(pool, others, holder) ?? [])
    const byFamilies = others.length > 0 ? (await Promise.all(renewOthers())).flat() : []
    const leases = fences.map((fence, i): Renewal => {
      const lease = byId.get(opened[i]?.objectId ?? '')
      if (lease)
        return { fence, state: lease.abortRequested ? 'ABORT_REQUESTED' : 'HELD', leaseUntil: lease.leaseUntil }
      const other = byFamilies.find(
        ({ objectId, hash }) => objectId === opened[i]?.objectId && hash.equals(opened[i].hash),
      )
      return { fence, state: other ? 'HELD' : 'LOST', leaseUntil: other?.leaseUntil ?? null }
    })
    return { ok: true, leases }
  }
}
