import type { Pool } from 'pg'
import { RoundRobin } from '../core/round-robin.ts'

/** A caller holds at most so many times the connections that are free: alone three quarters of a pool, beside others fewer. */
const PART = 2
/** Milliseconds for which a caller is active after it has asked for a connection. */
const ACTIVE_MS = 20

/**
 * Shares the connections of a pool between callers: some are always left for one who comes next, and who waits has a turn
 * after each other one who waits, however much any of them asks for.
 */
export class PoolShares {
  readonly #waiting = new RoundRobin<string>()
  readonly #held = new Map<string, number>()
  #free: number
  /** The caller that has asked last, and when another one has. */
  #latest = ''
  #latestAt = Number.NEGATIVE_INFINITY
  #otherAt = Number.NEGATIVE_INFINITY

  constructor(size: number) {
    this.#free = size
  }

  /** Resolves when the caller may have a connection; undefined: at once. */
  take(caller: string): Promise<void> | undefined {
    if (caller !== this.#latest) {
      this.#otherAt = this.#latestAt
      this.#latest = caller
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

  /** Another caller has asked lately. */
  isActiveBeside(caller: string): boolean {
    return performance.now() - (caller === this.#latest ? this.#otherAt : this.#latestAt) < ACTIVE_MS
  }

  #may(caller: string): boolean {
    return (this.#held.get(caller) ?? 0) < PART * this.#free
  }

  #count(caller: string, change: 1 | -1): void {
    this.#free -= change
    const held = (this.#held.get(caller) ?? 0) + change
    if (held > 0) this.#held.set(caller, held)
    else this.#held.delete(caller)
  }
}

const shares = new WeakMap<Pool, PoolShares>()

export function sharesOf(pool: Pool): PoolShares {
  const known = shares.get(pool) ?? new PoolShares(pool.options.max)
  shares.set(pool, known)
  return known
}
