import { forbidden, invalidInput } from '../../core/errors.ts'
import { clampLeaseMs } from '../../core/lease.ts'
import type { AgentPort, ClaimedItem } from '../../core/ports/agents.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { projectsWith, RIGHTS } from '../../core/rights.ts'
import { findRoots, untilNextOffer } from '../../store/work.ts'
import { SEARCH_WATCHED_MS, type Writes } from '../../store/write-watch.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeRunner } from '../runner.ts'
import { requireAgent, targetsOf } from './access.ts'
import type { AgentPresence } from './agent-presence.ts'
import { dryRunsKey } from './claim-dry-runs.ts'
import type { Dispatcher, WaitingClaim } from './dispatcher.ts'
import { EmptyClaimCache } from './empty-claim-cache.ts'
import { release } from './release.ts'
import { searchWork } from './search-work.ts'
import type { Search, WantedWork } from './wanted-work.ts'

/** A waiting claim searches again after this time, since work that backs off is offered without a notification. */
const SEARCH_MS = 2_000
const MAX_ITEMS = 500
/** Bounds how long a claim waits, since proxies close silent connections. */
const MAX_WAIT_MS = 30_000

type Request = Parameters<AgentPort['claim']>[1]

export interface ClaimParts {
  readonly parts: EngineParts
  readonly runner: TreeRunner
  readonly presence: AgentPresence
  readonly dispatcher: Dispatcher
  readonly writes: Writes | undefined
}

/** Claims offered work, tree by tree; the claim counts as the pickup. */
export function claimer({ parts, runner, presence, dispatcher, writes }: ClaimParts): AgentPort['claim'] {
  const search: Search = { parts, runner, dispatcher, empty: new EmptyClaimCache(SEARCH_MS, writes), active: new Set() }
  return async function claim(viewer, request) {
    const refused = requireAgent(viewer, RIGHTS.claimWork) ?? requireClaimRights(viewer, request)
    if (refused) return refused
    const wanted = wantedBy(viewer, request, parts)
    await presence.claims(viewer, request.instance, request.types, wanted)
    const requestedAt = parts.system.now().getTime()
    const startedAt = performance.now()
    const items = await claimOrWait(wanted, search, startedAt + Math.min(request.waitMs ?? 0, MAX_WAIT_MS))
    const waitedMs = waited(items, { requestedAt, startedAt, leaseMs: wanted.claimant.leaseMs, parts })
    if (!request.signal?.aborted || items.length === 0) return { ok: true, items, waitedMs }
    // The agent is gone. Unless released, its items stay claimed until their leases end.
    const ids = items.map(({ objectId }) => objectId)
    await release(items, await findRoots(parts.pool, ids), runner)
    return { ok: true, items: [], waitedMs }
  }
}

function wantedBy(
  viewer: Viewer,
  { instance, types, dryRuns = false, max, leaseMs, signal, ...requested }: Request,
  { kinds }: EngineParts,
): WantedWork {
  const { targets, targetSelector } = targetsOf(viewer, requested)
  const projects = projectsWith(viewer, RIGHTS.claimWork)
  const placed = kinds.placementOf(viewer.actor) ? [viewer.principalId, instance] : []
  return {
    claimant: { viewer, instance, leaseMs: clampLeaseMs(leaseMs) },
    types,
    targets,
    targetSelector,
    projects,
    dryRuns,
    max,
    signal,
    places: new Map(),
    key: JSON.stringify([viewer.actor, types, targets, targetSelector, projects, dryRuns, ...placed]),
  }
}

/**
 * Searches for work and waits for it until the deadline. A search that is known to find nothing is skipped.
 *
 * - Searching: holds a connection while it reads candidates and locks their trees. Found items end the claim; they are claimed already.
 * - Waiting: is in the dispatcher, and holds no connection. A transaction that offers work serves it before its own commit; a notice, or the
 *   time of the next search, leads to searching. If an equal claim has just searched in vain, or nothing was written since and nothing is
 *   due, that result counts.
 * - Ended: by items, the deadline, a caller that is gone, or a dispatcher that closes. A claim that a transaction is serving has left the
 *   dispatcher: it ends with what that brings.
 */
async function claimOrWait(wanted: WantedWork, search: Search, deadline: number): Promise<readonly ClaimedItem[]> {
  const { dispatcher, empty, parts } = search
  const mayWait = () => dispatcher.isOpen && !wanted.signal?.aborted && performance.now() < deadline
  let { notices } = dispatcher
  let emptyMs = mayWait() ? empty.validFor(wanted.key, notices, parts.system.now()) : 0
  let items: readonly ClaimedItem[] = emptyMs > 0 ? [] : await searchWork(wanted, search)
  while (items.length === 0 && mayWait()) {
    const known = empty.lastSearch(wanted.key)
    // A notification that came during the search reached no waiting claim, so the search is repeated at once.
    if (notices === dispatcher.notices) {
      const searchAt = Math.min(deadline, performance.now() + (emptyMs || SEARCH_MS))
      items = await waitForDispatch(wanted, dispatcher, searchAt)
    }
    const isQuiet = notices === dispatcher.notices
    notices = dispatcher.notices
    emptyMs = 0
    if (items.length > 0 || wanted.signal?.aborted) break
    // An agent may have several equal claims open, which share one search.
    if (isQuiet) {
      await empty.searching(wanted.key)
      const isSearched = empty.lastSearch(wanted.key) !== known
      if (isSearched) emptyMs = empty.validFor(wanted.key, notices, parts.system.now())
      else emptyMs = await empty.prolong(wanted.key, notices, () => quietMs(wanted, search, notices))
    }
    if (emptyMs === 0) items = await searchWork(wanted, search)
  }
  return items
}

/** Milliseconds until offered work comes up by the time alone; a search that nothing seems to need is made now and then all the same. */
async function quietMs(
  { types, dryRuns, key }: WantedWork,
  { parts, empty }: Search,
  notices: number,
): Promise<number> {
  const next = await untilNextOffer(parts.pool, types, parts.system.fixedTime)
  const nextDryRun = dryRuns ? empty.untilDue(dryRunsKey(key), notices) : SEARCH_WATCHED_MS
  return Math.min(next ?? SEARCH_WATCHED_MS, nextDryRun, SEARCH_WATCHED_MS)
}

/** Resolves with the items that a transaction dispatches to this claim, or with none when a search or an answer is due. */
function waitForDispatch(
  { claimant, types, targets, targetSelector, max, places, signal }: WantedWork,
  dispatcher: Dispatcher,
  deadline: number,
): Promise<readonly ClaimedItem[]> {
  return new Promise((resolve) => {
    const claim: WaitingClaim = {
      ...claimant,
      types,
      targets,
      targetSelector,
      max,
      places,
      settle(items) {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        resolve(items)
      },
    }
    const giveUp = () => {
      // A claim that is not in the dispatcher any more is settled by the transaction that serves it.
      if (dispatcher.delete(claim)) claim.settle([])
    }
    const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()))
    signal?.addEventListener('abort', giveUp)
    dispatcher.add(claim)
  })
}

interface Waited {
  readonly requestedAt: number
  readonly startedAt: number
  readonly leaseMs: number
  readonly parts: EngineParts
}

/** Milliseconds from the request to the start of the leases; 0 without items. */
function waited(items: readonly ClaimedItem[], { requestedAt, startedAt, leaseMs, parts }: Waited): number {
  if (items.length === 0) return 0
  const leasedAt = Math.min(...items.map(({ leaseUntil }) => leaseUntil.getTime())) - leaseMs
  // A suspended process has a wrong `requestedAt`, so the monotonic clock bounds the result.
  const longest = parts.system.standsStill ? Number.POSITIVE_INFINITY : Math.floor(performance.now() - startedAt)
  return Math.max(0, Math.min(longest, leasedAt - requestedAt))
}

function requireClaimRights(
  viewer: Viewer,
  { types, max }: { readonly types: readonly string[]; readonly max: number },
) {
  const foreign = types.filter((type) => viewer.types !== null && !viewer.types.includes(type))
  if (foreign.length > 0) {
    const message = `This token may claim only work of the types ${viewer.types?.join(', ')}.`
    return { ok: false, refusal: forbidden(message) } as const
  }
  if (max >= 1 && max <= MAX_ITEMS) return null
  const fields = [{ path: 'input.max', message: `must be between 1 and ${MAX_ITEMS}` }]
  return { ok: false, refusal: invalidInput(fields) } as const
}
