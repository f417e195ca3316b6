import { takesTarget } from '../../core/claimant.ts'
import { mayStart, type Place } from '../../core/place.ts'
import type { ClaimedItem } from '../../core/ports/agents.ts'
import type { ServedTargets } from '../../core/target.ts'
import { WORK_STATE } from '../../core/tree.ts'
import type { PlaceKey, Placement } from '../../families/family.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'
import type { TrackedObject } from '../tracked-object.ts'
import type { TransactionTrace } from '../transaction-trace.ts'
import { canClaim } from './access.ts'
import { claimOne, isClaimable } from './claim-one.ts'
import type { Claimant } from './claimant.ts'
import { type LockedPlaces, placeKey, startOf } from './locked-places.ts'

/** A claim that waits because its search found nothing. */
export interface WaitingClaim extends Claimant {
  readonly types: readonly string[]
  /** Null: any, or with a selector those that it selects. */
  readonly targets: readonly string[] | null
  readonly targetSelector: ServedTargets | null
  readonly max: number
  /** Its places by type of work, as its last search found them; absent: not known. */
  readonly places: ReadonlyMap<string, Place>
  /** Called once: with the dispatched items, or with none when the claim has to search again. */
  readonly settle: (items: readonly ClaimedItem[]) => void
}

/** Bounds the places that a transaction locks to dispatch one piece of work. */
const MAX_PLACES = 8

/**
 * Dispatches new work to the waiting claims of this process, in the transaction that offers the work. This saves the
 * claim's own search, lock and commit.
 */
export class Dispatcher {
  readonly #parts: EngineParts
  readonly #claims = new Set<WaitingClaim>()
  #isOpen = true
  #notices = 0

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  add(claim: WaitingClaim): void {
    this.#claims.add(claim)
  }
  /** False: the claim no longer waits, or a transaction serves it. */
  delete(claim: WaitingClaim): boolean {
    return this.#claims.delete(claim)
  }

  /** Makes claims for these types search again, since another process may have offered work. */
  notify(types: readonly string[]): void {
    this.#notices++
    for (const claim of this.#claims) {
      if (types.some((type) => claim.types.includes(type))) this.#dismiss(claim)
    }
  }
  /** Makes all claims search again: time that has passed may have brought up work of any type. */
  timeMoved(): void {
    this.#notices++
    for (const claim of this.#claims) this.#dismiss(claim)
  }
  /** Number of notices so far: a search that began at another number may have missed work. */
  get notices(): number {
    return this.#notices
  }
  get size(): number {
    return this.#claims.size
  }
  get isOpen(): boolean {
    return this.#isOpen
  }
  /** Answers all waiting claims; later claims do not wait. */
  close(): void {
    this.#isOpen = false
    for (const claim of this.#claims) this.#dismiss(claim)
  }

  #dismiss(claim: WaitingClaim): void {
    this.#claims.delete(claim)
    claim.settle([])
  }

  /** The places of waiting claims that are to be locked before new work of a slice is dispatched. */
  placesFor(slice: TreeSlice, locked: LockedPlaces): readonly { placement: Placement; keys: readonly PlaceKey[] }[] {
    if (this.#claims.size === 0 || slice.offered.size === 0) return []
    return [...slice.offered].flatMap((tracked) => {
      const placement = tracked.gone ? null : startOf(tracked, this.#parts)
      if (!placement || !tracked.work || !isClaimable(tracked, slice)) return []
      const { type } = tracked.work
      const keys: PlaceKey[] = []
      for (const claim of this.#claims) {
        if (keys.length >= MAX_PLACES) break
        if (this.#matches(claim, tracked) && !locked.has(claim, type)) keys.push(placeKey(claim, type))
      }
      return [{ placement, keys }]
    })
  }

  /** Claims new work of a slice before it is written. Null: no waiting claim matches any of it. */
  dispatch(slice: TreeSlice, places: LockedPlaces, trace: TransactionTrace | null): Handoff | null {
    if (this.#claims.size === 0 || slice.offered.size === 0) return null
    const handoff = new Handoff(this.#claims)
    slice.offers.clear()
    for (const tracked of slice.offered) {
      if (tracked.gone || tracked.work?.state !== WORK_STATE.OFFERED) continue
      const isStart = startOf(tracked, this.#parts) !== null
      const matches = (claim: WaitingClaim) =>
        this.#matches(claim, tracked) && (!isStart || places.find(claim, tracked) !== null)
      const claim = isClaimable(tracked, slice) ? handoff.next(matches) : undefined
      if (claim) handoff.give(claim, claimOne(tracked, slice, claim, this.#parts, { trace, via: 'dispatch', places }))
      else slice.offers.add(tracked.work.type)
    }
    return handoff.isEmpty ? null : handoff
  }

  #matches(claim: WaitingClaim, tracked: TrackedObject): boolean {
    const { viewer, types, places } = claim
    const { row, work } = tracked
    if (!work || !types.includes(work.type)) return false
    // Targets are not in memory: a claim with a selector searches again, as for work of another process.
    if (!takesTarget(claim, work)) return false
    const place = startOf(tracked, this.#parts) && places.get(work.type)
    if (place && !mayStart(place, { kind: row.kind, ...work })) return false
    return canClaim(viewer, row, this.#parts.kinds)
  }
}

/** Items that one transaction dispatches to waiting claims; the commit delivers them. */
export class Handoff {
  readonly #waiting: Set<WaitingClaim>
  readonly #items = new Map<WaitingClaim, ClaimedItem[]>()

  constructor(waiting: Set<WaitingClaim>) {
    this.#waiting = waiting
  }

  get isEmpty(): boolean {
    return this.#items.size === 0
  }
  /** The first matching claim with room. Claims that already have an item come first, since they are answered anyway. */
  next(matches: (claim: WaitingClaim) => boolean): WaitingClaim | undefined {
    for (const [claim, items] of this.#items) if (items.length < claim.max && matches(claim)) return claim
    for (const claim of this.#waiting) if (matches(claim)) return claim
    return undefined
  }
  give(claim: WaitingClaim, item: ClaimedItem): void {
    this.#waiting.delete(claim)
    const items = this.#items.get(claim)
    if (items) items.push(item)
    else this.#items.set(claim, [item])
  }

  committed(): void {
    for (const [claim, items] of this.#items) claim.settle(items)
  }
  /** Nothing was written, so the claims search again. */
  rolledBack(): void {
    for (const claim of this.#items.keys()) claim.settle([])
  }
}
