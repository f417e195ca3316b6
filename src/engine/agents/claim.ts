import { forbidden, invalidInput } from '../../core/errors.ts'
import { clampLeaseMs } from '../../core/lease.ts'
import type { AgentPort, ClaimedItem } from '../../core/ports/agents.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { findRoots } from '../../store/work.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeRunner } from '../runner.ts'
import { MAX_BATCH, requireAgent, within } from './access.ts'
import type { AgentPresence } from './agent-presence.ts'
import type { Dispatcher, WaitingClaim } from './dispatcher.ts'
import { EmptyClaimCache } from './empty-claim-cache.ts'
import { release } from './release.ts'
import { type Search, searchWork, type WantedWork } from './search-work.ts'

/** A claim that waits searches by itself so often: work that backs off is offered without a notification. */
const SEARCH_MS = 2_000
/** No claim waits longer, whatever it asks for: proxies cut off what is silent. */
const MAX_WAIT_MS = 30_000

type Request = Parameters<AgentPort['claim']>[1]

export interface ClaimParts {
  readonly parts: EngineParts
  readonly runner: TreeRunner
  readonly presence: AgentPresence
  readonly dispatcher: Dispatcher
}

/** Claims offered work, tree by tree; the claim itself is the pickup. */
export function claimer({ parts, runner, presence, dispatcher }: ClaimParts): AgentPort['claim'] {
  const search: Search = { parts, runner, dispatcher, empty: new EmptyClaimCache(SEARCH_MS), active: new Set() }
  return async function claim(viewer, request) {
    const refused = requireAgent(viewer) ?? requireClaimRights(viewer, request)
    if (refused) return refused
    const wanted = wantedBy(viewer, request)
    await presence.claims(viewer, request.instance, request.types, wanted.targets)
    const askedAt = parts.system.now().getTime()
    const begun = performance.now()
    const items = await claimOrWait(wanted, search, begun + Math.min(request.waitMs ?? 0, MAX_WAIT_MS))
    const waitedMs = waited(items, { askedAt, begun, leaseMs: wanted.claimant.leaseMs, parts })
    if (!request.signal?.aborted || items.length === 0) return { ok: true, items, waitedMs }
    // The agent is gone: without this its items would wait for the end of their leases.
    const ids = items.map(({ objectId }) => objectId)
    await release(items, await findRoots(parts.pool, ids), runner)
    return { ok: true, items: [], waitedMs }
  }
}

function wantedBy(viewer: Viewer, { instance, types, targets: asked, max, leaseMs, signal }: Request): WantedWork {
  const targets = within(viewer.targets, asked)
  return {
    claimant: { viewer, instance, leaseMs: clampLeaseMs(leaseMs) },
    types,
    targets,
    max,
    signal,
    key: JSON.stringify([types, targets, viewer.projects]),
  }
}

/** Searches, and waits for work until then. A search that is known to find nothing is left out. */
async function claimOrWait(wanted: WantedWork, search: Search, until: number): Promise<readonly ClaimedItem[]> {
  const { dispatcher, empty, parts } = search
  const mayWait = () => dispatcher.isOpen && !wanted.signal?.aborted && performance.now() < until
  let { notifications } = dispatcher
  let emptyMs = mayWait() ? empty.validFor(wanted.key, notifications, parts.system.now()) : 0
  let items: readonly ClaimedItem[] = emptyMs > 0 ? [] : await searchWork(wanted, search)
  while (items.length === 0 && mayWait()) {
    // A notification during the search came before the claim could wait for it.
    if (notifications === dispatcher.notifications) {
      const searchAt = Math.min(until, performance.now() + (emptyMs || SEARCH_MS))
      items = await waitForDispatch(wanted, dispatcher, searchAt)
    }
    notifications = dispatcher.notifications
    emptyMs = 0
    if (items.length === 0 && !wanted.signal?.aborted) items = await searchWork(wanted, search)
  }
  return items
}

/** Resolves with the items that a transaction gives to this claim; with none when it is time to search, or to answer. */
function waitForDispatch(
  { claimant, types, targets, max, signal }: WantedWork,
  dispatcher: Dispatcher,
  until: number,
): Promise<readonly ClaimedItem[]> {
  return new Promise((resolve) => {
    const claim: WaitingClaim = {
      ...claimant,
      types,
      targets,
      max,
      settle(items) {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        resolve(items)
      },
    }
    const giveUp = () => {
      // The transaction that is serving a claim settles it.
      if (dispatcher.delete(claim)) claim.settle([])
    }
    const timer = setTimeout(giveUp, until - performance.now())
    signal?.addEventListener('abort', giveUp)
    dispatcher.add(claim)
  })
}

interface Waited {
  readonly askedAt: number
  readonly begun: number
  readonly leaseMs: number
  readonly parts: EngineParts
}

/** From the question to the begin of the leases, in milliseconds; 0 without items. */
function waited(items: readonly ClaimedItem[], { askedAt, begun, leaseMs, parts }: Waited): number {
  if (items.length === 0) return 0
  const leasedAt = Math.min(...items.map(({ leaseUntil }) => leaseUntil.getTime())) - leaseMs
  // A process that was suspended meanwhile has a wrong `askedAt`: a lease must not seem to begin later than it can have.
  const most = parts.system.fixedTime ? Number.POSITIVE_INFINITY : Math.floor(performance.now() - begun)
  return Math.max(0, Math.min(most, leasedAt - askedAt))
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
  if (max >= 1 && max <= MAX_BATCH) return null
  const fields = [{ path: 'input.max', message: `must be between 1 and ${MAX_BATCH}` }]
  return { ok: false, refusal: invalidInput(fields) } as const
}
