import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { HandedOver, Waiting } from './agents/waiting.ts'
import type { TreeSlice } from './slice.ts'
import { type Transaction, transaction } from './transaction.ts'

/** Transactions in which what comes up is handed to those who wait for it, and told to them once it is committed. */
export class Handing {
  readonly #pool: Pool
  readonly #waiting: Waiting

  constructor(pool: Pool, waiting: Waiting) {
    this.#pool = pool
    this.#waiting = waiting
  }

  /** `handOver` is called with a slice that is about to be written. */
  async transaction<T>(work: (given: Transaction, handOver: (slice: TreeSlice) => void) => Promise<T>): Promise<T> {
    const handed: HandedOver[] = []
    const handOver = (slice: TreeSlice) => void handed.push(this.#waiting.handOver(slice))
    try {
      const written = await transaction(this.#pool, (given) => work(given, handOver))
      let isAwaited = false
      for (const one of handed) isAwaited = one.committed() || isAwaited
      // Whoever has waited for work is answered first.
      if (isAwaited) await othersTurn()
      return written
    } catch (error) {
      for (const one of handed) one.failed()
      throw error
    }
  }
}
