import type { ClaimedItem } from '../../core/ports/agents.ts'
import { FENCE_SECRET_BYTES } from '../../store/fence.ts'
import type { Search, WantedWork } from './wanted-work.ts'

/** Bounds the dry runs of one claim, so that several agents share those of a big tree. */
const MAX_ITEMS = 20

/** The key of a search for the dry runs of claims with this key. */
export const dryRunsKey = (key: string): string => `dry runs ${key}`

/** Claims dry runs of the families. A busy agent asks for them no more often than new work of any kind is announced. */
export async function claimDryRuns(
  { claimant, types, targets, targetSelector, projects, max, key }: WantedWork,
  { parts, dispatcher, empty }: Search,
): Promise<readonly ClaimedItem[]> {
  const { pool, system, kinds } = parts
  const own = dryRunsKey(key)
  const { notices } = dispatcher
  const now = system.now()
  if (empty.validFor(own, notices, now) > 0) return []
  const begunAt = performance.now()
  const { viewer, instance, leaseMs } = claimant
  const wanted = {
    ...{ principalId: viewer.principalId, instance, types, targets, targetSelector, projects, leaseMs },
    ...{ max: Math.min(max, MAX_ITEMS), time: system.fixedTime, secret: () => system.secret(FENCE_SECRET_BYTES) },
  }
  const items: ClaimedItem[] = []
  let nextMs = Number.POSITIVE_INFINITY
  for (const { machines, claimDryRuns: claim } of kinds.families) {
    const drives = machines.some(({ transitions }) => transitions.some(({ actor }) => actor === viewer.actor))
    if (!claim || !drives || items.length >= wanted.max) continue
    const claimed = await claim(pool, wanted)
    items.push(...claimed.items)
    nextMs = Math.min(nextMs, claimed.nextMs ?? nextMs)
  }
  if (items.length === 0) empty.remember(own, notices, now, { begunAt, nextMs })
  return items
}
