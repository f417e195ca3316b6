import type { ClaimedItem } from '../../core/ports/agents.ts'
import { WORK_STATE, type Work } from '../../core/tree.ts'
import { findCandidates } from '../../store/work.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeRunner } from '../runner.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'
import type { TransactionTrace } from '../transaction-trace.ts'
import type { TreeTask } from '../tree-lane.ts'
import { canClaim } from './access.ts'
import { type Claimant, claimOne, isClaimable } from './claim-one.ts'
import { claimOrphaned } from './claim-orphaned.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { EmptyClaimCache } from './empty-claim-cache.ts'

/** Bounds the searches of one claim. A search is repeated if other agents have claimed its candidates meanwhile. */
const MAX_ROUNDS = 3
/** Bounds the candidates of other claims that a search skips. */
const MAX_SKIPPED = 2_000

export interface WantedWork {
  readonly claimant: Claimant
  readonly types: readonly string[]
  /** Null: any. */
  readonly targets: readonly string[] | null
  /** Ids of those in which the agent may claim; null: all. */
  readonly projects: readonly string[] | null
  readonly max: number
  readonly signal: AbortSignal | undefined
  /** Equal for all claims that search for the same. */
  readonly key: string
}

export interface Search {
  readonly parts: EngineParts
  readonly runner: TreeRunner
  readonly dispatcher: Dispatcher
  readonly empty: EmptyClaimCache
  /** Candidates of the active claims of this process. Other claims skip them instead of waiting for the same locks. */
  readonly active: Set<string>
}

/** Finds offered work and claims it, tree by tree, under each tree's lock. */
export async function searchWork(wanted: WantedWork, search: Search): Promise<readonly ClaimedItem[]> {
  const { active, parts } = search
  const items: ClaimedItem[] = []
  for (let round = 0; round < MAX_ROUNDS && items.length < wanted.max; round++) {
    const candidates = await candidatesOf(wanted, search, wanted.max - items.length)
    if (candidates.length === 0) break
    for (const { objectId } of candidates) active.add(objectId)
    try {
      const tasks = Map.groupBy(candidates, ({ rootId }) => rootId)
      const claims = [...tasks].map(([rootId, group]) =>
        search.runner.run(rootId, claimTask(group, wanted.claimant, parts)),
      )
      const ran = await Promise.all(claims)
      items.push(...ran.flatMap((tree) => tree?.value.claimed ?? []))
      const gone = [...tasks.values()].flatMap(
        (group, i) => ran[i]?.value.gone ?? group.map(({ objectId }) => objectId),
      )
      items.push(...(await claimOrphaned(gone, wanted.claimant, parts)))
    } finally {
      for (const { objectId } of candidates) active.delete(objectId)
    }
  }
  return items
}

type Candidates = Awaited<ReturnType<typeof findCandidates>>

async function candidatesOf(
  { claimant, types, targets, projects, key }: WantedWork,
  { parts, dispatcher, empty, active }: Search,
  count: number,
): Promise<Candidates> {
  const { notifications } = dispatcher
  const now = parts.system.now()
  const max = count + Math.min(active.size, MAX_SKIPPED)
  const kinds = parts.kinds.drivenBy(claimant.viewer.actor)
  const found = await findCandidates(parts.pool, { types, targets, projects, kinds, time: parts.system.fixedTime, max })
  if (found.length === 0) empty.remember(key, notifications, now)
  return found.filter(({ objectId }) => !active.has(objectId)).slice(0, count)
}

function claimTask(candidates: Candidates, claimant: Claimant, parts: EngineParts): TreeTask<Claims> {
  const ids = candidates.map(({ objectId }) => objectId)
  return {
    ids,
    ends: false,
    canRecall: isOffered,
    apply: (slice, trace) => claimAll(slice, ids, trace, { claimant, parts }),
  }
}

/** Claimed work is read from the store, which alone knows its lease. */
const isOffered = ({ state }: Work): boolean => state === WORK_STATE.OFFERED

interface Claims {
  readonly claimed: readonly ClaimedItem[]
  /** Objects that no longer exist. */
  readonly gone: readonly string[]
}

/** Claims the candidates that are still offered. */
function claimAll(
  slice: TreeSlice,
  ids: readonly string[],
  trace: TransactionTrace | null,
  { claimant, parts }: { readonly claimant: Claimant; readonly parts: EngineParts },
): Claims {
  const claimed = ids.flatMap((id) => {
    const tracked = slice.nodes.get(id)
    if (!tracked || !canClaim(claimant.viewer, tracked.row, parts.kinds)) return []
    // A timeout or a cancel may have ended the work since the last reconcile, so the rules decide first.
    slice.runRule(tracked, () => parts.kinds.family(tracked.row.kind).decide(tracked, slice))
    return isClaimable(tracked, slice.now) ? [claimOne(tracked, slice, claimant, parts, { trace, how: 'claim' })] : []
  })
  return { claimed, gone: ids.filter((id) => !slice.nodes.has(id)) }
}
