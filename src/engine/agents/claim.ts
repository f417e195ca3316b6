import { forbidden, invalidInput } from '../../core/errors.ts'
import { clampLeaseMs } from '../../core/lease.ts'
import type { AgentPort, ClaimedItem } from '../../core/ports/agents.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { WORK_STATE, type Work } from '../../core/tree.ts'
import { findCandidates, findRoots } from '../../store/work.ts'
import type { TreeRunner } from '../runner.ts'
import type { TreeSlice } from '../slice.ts'
import type { EngineParts } from '../transaction.ts'
import { canDrive, MAX_BATCH, requireAgent, within } from './access.ts'
import type { AgentPresence } from './agent-presence.ts'
import { type Claimant, claimOne, isClaimable } from './claim-one.ts'
import { claimOrphaned } from './claim-orphaned.ts'
import { Looks } from './empty-claim-cache.ts'
import { release } from './release.ts'
import type { Waiting, WaitingClaim } from './waiting.ts'

/** Candidates may have gone to somebody else meanwhile: then others are looked for. */
const CLAIM_ROUNDS = 3

/** At most so many that others are about to take are passed over. */
const MAX_PASSED = 2_000

/** A waiting claim looks for itself so often: work that backs off comes up without anybody saying so. */
const LOOK_MS = 2_000
/** Longer than this no claim waits, whatever it asks for: what is between may cut off what is silent. */
const MAX_WAIT_MS = 30_000

type Request = Parameters<AgentPort['claim']>[1]

export interface ClaimParts {
  readonly parts: EngineParts
  readonly runner: TreeRunner
  readonly presence: AgentPresence
  readonly waiting: Waiting
}

/** Takes triggered work, tree by tree; the claim itself is the pickup. */
export function claimer({ parts, runner, presence, waiting }: ClaimParts): AgentPort['claim'] {
  const searching: Searching = { parts, runner, waiting, looks: new Looks(LOOK_MS), active: new Set() }
  return async (viewer, request) => {
    const refused = requireAgent(viewer) ?? requireClaimRights(viewer, request)
    if (refused) return refused
    const { types, instance, signal } = request
    const targets = within(viewer.targets, request.targets)
    await presence.claims(viewer, instance, types, targets)
    const claiming: Claiming = {
      claimant: { viewer, instance, leaseMs: clampLeaseMs(request.leaseMs) },
      request,
      targets,
      key: JSON.stringify([types, targets, viewer.projects]),
    }
    const askedAt = parts.system.now().getTime()
    const begun = performance.now()
    const until = begun + Math.min(request.waitMs ?? 0, MAX_WAIT_MS)
    const mayWait = () => waiting.isOpen && !signal?.aborted && performance.now() < until
    let { rings } = waiting
    let vainMs = mayWait() ? searching.looks.vainFor(claiming.key, rings, parts.system.now()) : 0
    let items: readonly ClaimedItem[] = vainMs > 0 ? [] : await claimNow(claiming, searching)
    while (items.length === 0 && mayWait()) {
      // What came up while it looked was rung for when it did not wait yet.
      if (rings === waiting.rings)
        items = await waitFor(claiming, Math.min(until, performance.now() + (vainMs || LOOK_MS)), waiting)
      rings = waiting.rings
      vainMs = 0
      if (items.length === 0 && !signal?.aborted) items = await claimNow(claiming, searching)
    }
    const leasedAt = Math.min(...items.map(({ leaseUntil }) => leaseUntil.getTime())) - claiming.claimant.leaseMs
    // Who was suspended meanwhile knows badly when it was asked: a lease must not seem to begin later than it can have.
    const most = parts.system.fixedTime ? Number.POSITIVE_INFINITY : Math.floor(performance.now() - begun)
    const waitedMs = items.length > 0 ? Math.max(0, Math.min(most, leasedAt - askedAt)) : 0
    if (!signal?.aborted || items.length === 0) return { ok: true, items, waitedMs }
    // Whoever asked has gone: nobody would hear of it before the leases end.
    await release(
      items,
      await findRoots(
        parts.pool,
        items.map(({ objectId }) => objectId),
      ),
      runner,
    )
    return { ok: true, items: [], waitedMs }
  }
}

interface Searching {
  readonly parts: EngineParts
  readonly runner: TreeRunner
  readonly waiting: Waiting
  readonly looks: Looks
  /** What other claims of this process are about to take: looking at the same would only be in their way. */
  readonly active: Set<string>
}

async function claimNow(
  { claimant, request, targets, key }: Claiming,
  { parts, runner, waiting, looks, active }: Searching,
): Promise<readonly ClaimedItem[]> {
  const items: ClaimedItem[] = []
  for (let round = 0; round < CLAIM_ROUNDS && items.length < request.max; round++) {
    const { types, max } = request
    const { projects } = claimant.viewer
    const want = max - items.length
    const { rings } = waiting
    const now = parts.system.now()
    const time = parts.system.fixedTime
    const wanted = { types, targets, projects, time, max: want + Math.min(active.size, MAX_PASSED) }
    const found = await findCandidates(parts.pool, wanted)
    if (found.length === 0) looks.noteVain(key, rings, now)
    const candidates = found.filter(({ objectId }) => !active.has(objectId)).slice(0, want)
    if (candidates.length === 0) break
    for (const { objectId } of candidates) active.add(objectId)
    const byRoot = Map.groupBy(candidates, (candidate) => candidate.rootId)
    const claims = [...byRoot].map(async ([rootId, of]) => {
      const ids = of.map(({ objectId }) => objectId)
      const task = {
        ids,
        ends: false,
        knows: isOffered,
        apply: (slice: TreeSlice) => claimAll(slice, ids, claimant, parts),
      }
      const ran = await runner.run(rootId, task)
      const { claimed, gone } = ran.found ? ran.value : { claimed: [], gone: ids }
      return [...claimed, ...(await claimOrphaned(gone, claimant, parts))]
    })
    try {
      items.push(...(await Promise.all(claims)).flat())
    } finally {
      for (const { objectId } of candidates) active.delete(objectId)
    }
  }
  return items
}

/** What is handed over meanwhile; nothing when it is time to look, or to answer. */
function waitFor(
  { claimant, request: { types, max, signal }, targets }: Claiming,
  until: number,
  waiting: Waiting,
): Promise<readonly ClaimedItem[]> {
  return new Promise((resolve) => {
    const claim: WaitingClaim = {
      ...claimant,
      types,
      targets,
      max,
      settle(items) {
        clearTimeout(timer)
        signal?.removeEventListener('abort', leave)
        resolve(items)
      },
    }
    const leave = () => {
      // While it is being served the transaction settles it.
      if (waiting.delete(claim)) claim.settle([])
    }
    const timer = setTimeout(leave, until - performance.now())
    signal?.addEventListener('abort', leave)
    waiting.add(claim)
  })
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

interface Claiming {
  readonly claimant: Claimant
  readonly request: Request
  readonly targets: readonly string[] | null
  /** The same for all who look for the same. */
  readonly key: string
}

/** Of what is claimed only the store knows until when. */
const isOffered = ({ state }: Work): boolean => state === WORK_STATE.OFFERED

/** Under the tree's lock: whatever is still to be had is claimed, and the claim is the pickup. */
function claimAll(slice: TreeSlice, ids: readonly string[], claimant: Claimant, parts: EngineParts): Claims {
  const claimed = ids.flatMap((id) => {
    const tracked = slice.nodes.get(id)
    if (!tracked || !canDrive(claimant.viewer, tracked.row.kind, parts.kinds)) return []
    // What a timeout or a cancel has ended is not worked on, even if no engine has looked since.
    slice.look(tracked, () => parts.kinds.family(tracked.row.kind).decide(tracked, slice))
    return isClaimable(tracked, slice.now) ? [claimOne(tracked, slice, claimant, parts)] : []
  })
  return { claimed, gone: ids.filter((id) => !slice.nodes.has(id)) }
}

interface Claims {
  readonly claimed: readonly ClaimedItem[]
  /** Objects that are not there any more. */
  readonly gone: readonly string[]
}
