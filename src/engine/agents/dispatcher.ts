import type { ClaimedItem } from '../../core/ports/agents.ts'
import { WORK_STATE } from '../../core/tree.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'
import type { TrackedObject } from '../tracked-object.ts'
import { canDrive } from './access.ts'
import { type Claimant, claimOne, isClaimable } from './claim-one.ts'

/** A claim that found nothing and waits. */
export interface WaitingClaim extends Claimant {
  readonly types: readonly string[]
  /** Null: any. */
  readonly targets: readonly string[] | null
  readonly max: number
  /** Called once: with the items that were claimed for it, or with none when it is to search by itself. */
  readonly settle: (items: readonly ClaimedItem[]) => void
}

/**
 * The claims of this process that wait for work. New work of a tree is given to them in the very transaction that offers
 * it: without a search, a lock and a commit of its own.
 */
export class Dispatcher {
  readonly #parts: EngineParts
  readonly #claims = new Set<WaitingClaim>()
  #isOpen = true
  #notifications = 0

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  add(claim: WaitingClaim): void {
    this.#claims.add(claim)
  }
  /** False: it does not wait any more, or a transaction is serving it. */
  delete(claim: WaitingClaim): boolean {
    return this.#claims.delete(claim)
  }

  /** Work of these types may have been offered elsewhere: claims for it search by themselves. */
  notify(types: readonly string[]): void {
    this.#notifications++
    for (const claim of this.#claims) {
      if (types.some((type) => claim.types.includes(type))) this.#dismiss(claim)
    }
  }
  /** A search that began at another count may have missed work. */
  get notifications(): number {
    return this.#notifications
  }
  get size(): number {
    return this.#claims.size
  }
  get isOpen(): boolean {
    return this.#isOpen
  }
  /** Answers all claims that wait; from now on none waits. */
  close(): void {
    this.#isOpen = false
    for (const claim of this.#claims) this.#dismiss(claim)
  }

  #dismiss(claim: WaitingClaim): void {
    this.#claims.delete(claim)
    claim.settle([])
  }

  /** Claims new work of a slice that is about to be written. Null: nobody waits for any of it. */
  dispatch(slice: TreeSlice): Handoff | null {
    if (this.#claims.size === 0 || slice.offered.size === 0) return null
    const handoff = new Handoff(this.#claims)
    slice.offers.clear()
    for (const tracked of slice.offered) {
      if (tracked.gone || tracked.work?.state !== WORK_STATE.OFFERED) continue
      const suits = (claim: WaitingClaim) => this.#suits(claim, tracked, slice)
      const claim = isClaimable(tracked, slice.now) ? handoff.next(suits) : undefined
      if (claim) handoff.give(claim, claimOne(tracked, slice, claim, this.#parts))
      else slice.offers.add(tracked.work.type)
    }
    return handoff.isEmpty ? null : handoff
  }

  #suits({ viewer, types, targets }: WaitingClaim, { row, work }: TrackedObject, slice: TreeSlice): boolean {
    if (!work || !types.includes(work.type)) return false
    if (targets !== null && work.target !== null && !targets.includes(work.target)) return false
    if (viewer.projects !== null && !viewer.projects.includes(slice.projectName)) return false
    return canDrive(viewer, row.kind, this.#parts.kinds)
  }
}

/** Items that one transaction gives to claims that wait; they get them when it is committed. */
export class Handoff {
  readonly #waiting: Set<WaitingClaim>
  readonly #items = new Map<WaitingClaim, ClaimedItem[]>()

  constructor(waiting: Set<WaitingClaim>) {
    this.#waiting = waiting
  }

  get isEmpty(): boolean {
    return this.#items.size === 0
  }
  /** The first claim that suits and has room. A claim that has an item already comes first: it is answered anyway. */
  next(suits: (claim: WaitingClaim) => boolean): WaitingClaim | undefined {
    for (const [claim, items] of this.#items) if (items.length < claim.max && suits(claim)) return claim
    for (const claim of this.#waiting) if (suits(claim)) return claim
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
  /** Nothing was written, so the claims search by themselves. */
  rolledBack(): void {
    for (const claim of this.#items.keys()) claim.settle([])
  }
}
