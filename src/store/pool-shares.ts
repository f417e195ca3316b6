import type { Pool } from 'pg'
import { RoundRobin } from '../core/round-robin.ts'

/** A share holds at most so many times the connections that are free: alone three quarters of a pool, beside others fewer. */
const PART = 2
/** Milliseconds for which a share is active after it has asked for a connection. */
const ACTIVE_MS = 20

/** The share of a caller `SHARE PRINCIPAL`: principals of one project have one together. */
const shareOf = (caller: string): string => caller.split(' ', 1)[0] ?? caller

/**
 * Shares the connections of a pool between callers, first by their shares: some are always left for one who comes next, and who waits has a turn
 * after each other one who waits, however much any of them asks for.
 */
export class PoolShares {
  readonly #waiting = new RoundRobin<string>(shareOf)
  readonly #held = new Map<string, number>()
  #free: number
  /** The share that has asked last, and when another one has. */
  #latest = ''
  #latestAt = Number.NEGATIVE_INFINITY
  #otherAt = Number.NEGATIVE_INFINITY

  constructor(size: number) {
    this.#free = size
  }

  /** Resolves when the caller may have a connection; undefined: at once. */
  take(caller: string): Promise<void> | undefined {
    if (shareOf(caller) !== this.#latest) {
      this.#otherAt = this.#latestAt
      this.#latest = shareOf(caller)
    }
    this.#latestAt = performance.now()
    if (!this.#may(caller)) return this.#waiting.wait(caller)
    this.#count(caller, 1)
    return undefined
  }

  giveBack(caller: string): void {
    this.#count(caller, -1)
    for (;;) {
      const next = this.#waiting.next((waiting) => this.#may(waiting))
      if (next === undefined) return
      this.#count(next, 1)
    }
  }

  /** Another share has asked lately. */
  isActiveBeside(caller: string): boolean {
    return performance.now() - (shareOf(caller) === this.#latest ? this.#otherAt : this.#latestAt) < ACTIVE_MS
  }

  #may(caller: string): boolean {
    return (this.#held.get(shareOf(caller)) ?? 0) < PART * this.#free
  }

  #count(caller: string, change: 1 | -1): void {
    this.#free -= change
    const share = shareOf(caller)
    const held = (this.#held.get(share) ?? 0) + change
    if (held > 0) this.#held.set(share, held)
    else this.#held.delete(share)
  }
}

const shares = new WeakMap<Pool, PoolShares>()

export function sharesOf(pool: Pool): PoolShares {
  const known = shares.get(pool) ?? new PoolShares(pool.options.max)
  shares.set(pool, known)
  return known
}
