import { isFull, type Place, roomOf } from '../../core/place.ts'
import type { ClaimedItem } from '../../core/ports/agents.ts'
import { WORK_STATE, type Work } from '../../core/tree.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import { findCandidates, type PlaceOfType } from '../../store/work.ts'
import type { TreeTask } from '../apply-tasks.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'
import type { Transaction } from '../transaction.ts'
import type { TransactionTrace } from '../transaction-trace.ts'
import { canClaim } from './access.ts'
import { claimDryRuns } from './claim-dry-runs.ts'
import { claimOne, isClaimable } from './claim-one.ts'
import { claimOrphaned } from './claim-orphaned.ts'
import type { Claimant } from './claimant.ts'
import { type LockedPlaces, placeKey, startOf } from './locked-places.ts'
import type { Search, WantedWork } from './wanted-work.ts'

/** Bounds the searches of one claim. A search is repeated if other agents have claimed its candidates meanwhile. */
const MAX_ROUNDS = 3
/** How long a claim waits for a locked tree, in milliseconds. Items that it has claimed in other trees wait meanwhile. */
const LOCKED_TREE_MS = 250
/** Bounds the candidates of other claims that a search skips. */
const MAX_SKIPPED = 2_000

/** Finds offered work and claims it, tree by tree, under each tree's lock. */
export async function searchWork(wanted: WantedWork, search: Search): Promise<readonly ClaimedItem[]> {
  const { active, parts } = search
  // Dry runs come first, since a person waits for them. Other work follows with the next claim.
  const items: ClaimedItem[] = wanted.dryRuns ? [...(await claimDryRuns(wanted, search))] : []
  if (items.length > 0) return items
  for (let round = 0; round < MAX_ROUNDS && items.length < wanted.max; round++) {
    const candidates = await candidatesOf(wanted, search, wanted.max - items.length)
    if (candidates.length === 0) break
    for (const { objectId } of candidates) active.add(objectId)
    try {
      const groups = [...Map.groupBy(candidates, ({ rootId }) => rootId)]
      const tasks = groups.map(([rootId, group]) => ({ rootId, task: claimTask(group, wanted.claimant, parts) }))
      const ran = await search.runner.runEach(tasks, LOCKED_TREE_MS)
      const gone: string[] = []
      for (const [i, [, group]] of groups.entries()) {
        const tree = ran[i]
        if (tree === 'locked') continue
        items.push(...(tree?.value.claimed ?? []))
        gone.push(...(tree?.value.gone ?? group.map(({ objectId }) => objectId)))
      }
      items.push(...(await claimOrphaned(gone, wanted.claimant, parts)))
    } finally {
      for (const { objectId } of candidates) active.delete(objectId)
    }
  }
  return items
}

type Candidates = Awaited<ReturnType<typeof findCandidates>>

async function candidatesOf(
  wanted: WantedWork,
  { parts, runner, dispatcher, empty, active }: Search,
  count: number,
): Promise<Candidates> {
  const { claimant, types, targets, targetSelector, projects, key } = wanted
  const { notices } = dispatcher
  const now = parts.system.now()
  const begunAt = performance.now()
  const max = count + Math.min(active.size, MAX_SKIPPED)
  const kinds = parts.kinds.drivenBy(claimant.viewer.actor)
  wanted.places = await placesOf(claimant, types, parts)
  const places = statePlaces(wanted.places, kinds)
  const { lockedTrees } = runner
  const query = {
    types,
    targets,
    targetSelector,
    projects,
    kinds,
    places,
    lockedTrees,
    time: parts.system.fixedTime,
    max,
  }
  const searching = findCandidates(parts.pool, query).then((found) => {
    if (found.length === 0 && lockedTrees.length === 0) empty.remember(key, notices, now, { begunAt })
    return found
  })
  empty.begin(key, searching)
  const found = await searching
  let room = roomFor(wanted.places, kinds)
  return found.filter(({ objectId, isStart }) => !active.has(objectId) && (!isStart || room-- > 0)).slice(0, count)
}

/** The places of a claimant by type of work; empty if its work may start anywhere. */
export async function placesOf(
  claimant: Claimant,
  types: readonly string[],
  { kinds, pool }: EngineParts,
): Promise<ReadonlyMap<string, Place>> {
  const placement = kinds.placementOf(claimant.viewer.actor)
  if (!placement) return new Map()
  const keys = [...new Set(types)].map((type) => placeKey(claimant, type))
  const places = await placement.readPlaces(pool, keys)
  return new Map(keys.map(({ type }, i) => [type, places[i] as Place]))
}

/** The most work that the claim may start, so that it does not lock trees in vain. */
const roomFor = (places: ReadonlyMap<string, Place>, kinds: readonly ObjectKind[]): number =>
  places.size === 0
    ? Number.POSITIVE_INFINITY
    : [...places.values()].flatMap((place) => kinds.map((kind) => roomOf(place, kind))).reduce((a, b) => a + b, 0)

/** The places, as the statement that finds candidates needs them. */
export const statePlaces = (
  places: ReadonlyMap<string, Place>,
  kinds: readonly ObjectKind[],
): Readonly<Record<string, PlaceOfType>> =>
  Object.fromEntries(
    [...places].map(([type, place]) => {
      const { labels, isDrained } = place
      return [type, { labels, isDrained, full: kinds.filter((kind) => isFull(place, kind)) }]
    }),
  )

function claimTask(candidates: Candidates, claimant: Claimant, parts: EngineParts): TreeTask<Claims> {
  const ids = candidates.map(({ objectId }) => objectId)
  return {
    ids,
    ends: false,
    canRecall: isOffered,
    prepare: (slice, tx) => lockPlaces(slice, tx, { ids, claimant, parts }),
    apply: (slice, { trace, places }) => claimAll(slice, ids, claimant, { parts, trace, places }),
  }
}

/** Work with a lease, though offered for later, is read from the store, which alone knows the end of that. */
const isOffered = ({ state, leaseUntil }: Work): boolean => state === WORK_STATE.OFFERED && leaseUntil === null

interface Claims {
  readonly claimed: readonly ClaimedItem[]
  /** Objects that no longer exist. */
  readonly gone: readonly string[]
}

interface Claiming {
  readonly ids: readonly string[]
  readonly claimant: Claimant
  readonly parts: EngineParts
}

/** Work that starts nothing needs no place, so its claim asks nothing more. */
async function lockPlaces(
  slice: TreeSlice,
  { client, places }: Transaction,
  { ids, claimant, parts }: Claiming,
): Promise<void> {
  for (const id of ids) {
    const tracked = slice.nodes.get(id)
    const placement = tracked && startOf(tracked, parts)
    if (placement) await places.lock(client, placement, [placeKey(claimant, tracked.work?.type ?? '')])
  }
}

/** Claims the candidates that are still offered. */
function claimAll(
  slice: TreeSlice,
  ids: readonly string[],
  claimant: Claimant,
  {
    parts,
    trace,
    places,
  }: { readonly parts: EngineParts; readonly trace: TransactionTrace | null; readonly places: LockedPlaces },
): Claims {
  const claimed = ids.flatMap((id) => {
    const tracked = slice.nodes.get(id)
    if (!tracked || !canClaim(claimant.viewer, tracked.row, parts.kinds)) return []
    // A timeout or a cancel may have ended the work since the last reconcile, so the rules decide first.
    slice.runRule(tracked, () => parts.kinds.family(tracked.row.kind).decide(tracked, slice))
    if (!isClaimable(tracked, slice)) return []
    if (startOf(tracked, parts) && !places.find(claimant, tracked)) return []
    return [claimOne(tracked, slice, claimant, parts, { trace, via: 'claim', places })]
  })
  return { claimed, gone: ids.filter((id) => !slice.nodes.has(id)) }
}
