import type { ClaimedItem } from '../../core/ports/agents.ts'
import { WORK_STATE } from '../../core/tree.ts'
import type { TreeSlice } from '../slice.ts'
import type { TrackedObject } from '../tracked-object.ts'
import type { EngineParts } from '../transaction.ts'
import { canDrive } from './access.ts'
import { type Claimant, claimOne, isClaimable } from './claim-one.ts'

/** A claim that found nothing and waits. */
export interface WaitingClaim extends Claimant {
  readonly types: readonly string[]
  /** Null: any. */
  readonly targets: readonly string[] | null
  readonly max: number
  /** Called once: with what was claimed for it, or with nothing when it is to look for itself. */
  readonly settle: (items: readonly ClaimedItem[]) => void
}

/**
 * Claims of this process that wait for work. What comes up in a tree is given to them in the very transaction in which
 * it comes up: without a search, a lock and a commit of its own.
 */
export class Waiting {
  readonly #parts: EngineParts
  readonly #claims = new Set<WaitingClaim>()
  #isOpen = true
  #rings = 0

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  add(claim: WaitingClaim): void {
    this.#claims.add(claim)
  }
  /** False: it is not waiting any more, or is being served. */
  delete(claim: WaitingClaim): boolean {
    return this.#claims.delete(claim)
  }

  /** Work of these types may have come up elsewhere. */
  ring(types: readonly string[]): void {
    this.#rings++
    for (const claim of this.#claims) {
      if (types.some((type) => claim.types.includes(type))) this.#dismiss(claim)
    }
  }
  /** Whoever has looked for work meanwhile may have looked too early. */
  get rings(): number {
    return this.#rings
  }
  get size(): number {
    return this.#claims.size
  }
  get isOpen(): boolean {
    return this.#isOpen
  }
  /** All are answered, and nobody waits any more. */
  close(): void {
    this.#isOpen = false
    for (const claim of this.#claims) this.#dismiss(claim)
  }

  #dismiss(claim: WaitingClaim): void {
    this.#claims.delete(claim)
    claim.settle([])
  }

  /** Claims what has come up in a slice that is about to be written. What comes of it is told once that is committed. */
  handOver(slice: TreeSlice): HandedOver {
    const handed = new HandedOver(this.#claims)
    if (this.#claims.size === 0) return handed
    slice.offers.clear()
    for (const tracked of slice.offered) {
      if (tracked.gone || tracked.work?.state !== WORK_STATE.OFFERED) continue
      const suits = (claim: WaitingClaim) => this.#suits(claim, tracked, slice)
      const claim = isClaimable(tracked, slice.now) ? handed.next(suits) : undefined
      if (claim) handed.give(claim, claimOne(tracked, slice, claim, this.#parts))
      else slice.offers.add(tracked.work.type)
    }
    return handed
  }

  #suits({ viewer, types, targets }: WaitingClaim, { row, work }: TrackedObject, slice: TreeSlice): boolean {
    if (!work || !types.includes(work.type)) return false
    if (targets !== null && work.target !== null && !targets.includes(work.target)) return false
    if (viewer.projects !== null && !viewer.projects.includes(slice.projectName)) return false
    return canDrive(viewer, row.kind, this.#parts.kinds)
  }
}

/** What one transaction gives to those who wait. */
export class HandedOver {
  readonly #waiting: Set<WaitingClaim>
  readonly #given = new Map<WaitingClaim, ClaimedItem[]>()

  constructor(waiting: Set<WaitingClaim>) {
    this.#waiting = waiting
  }

  /** The first one that suits and has room, those that have got something already first: they wait no longer anyway. */
  next(suits: (claim: WaitingClaim) => boolean): WaitingClaim | undefined {
    for (const [claim, items] of this.#given) if (items.length < claim.max && suits(claim)) return claim
    for (const claim of this.#waiting) if (suits(claim)) return claim
    return undefined
  }
  give(claim: WaitingClaim, item: ClaimedItem): void {
    this.#waiting.delete(claim)
    const items = this.#given.get(claim)
    if (items) items.push(item)
    else this.#given.set(claim, [item])
  }

  /** Returns whether anybody has got anything. */
  committed(): boolean {
    const isAwaited = this.#given.size > 0
    for (const [claim, items] of this.#given) claim.settle(items)
    this.#given.clear()
    return isAwaited
  }
  /** Nothing was written: they look for themselves. */
  failed(): void {
    for (const claim of this.#given.keys()) claim.settle([])
    this.#given.clear()
  }
}
