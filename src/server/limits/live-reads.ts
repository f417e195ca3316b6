import { setTimeout as delay } from 'node:timers/promises'
import { OneAtATime } from '../../core/one-at-a-time.ts'

/** Longest rest after a read. */
const MAX_REST_MS = 250

/**
 * Reads for live events of one caller, one at a time. While others read, each is followed by a rest as long as it took: so they take
 * half of one connection, however many subscriptions the caller has.
 */
export class LiveReads {
  /** As its rights make it. */
  caller: string
  readonly #reads = new OneAtATime()
  /** When the next one may begin. */
  #restsUntil = 0

  constructor(caller: string) {
    this.caller = caller
  }

  /**
   * @param mustRest asked after the read
   * @param turn waits for the caller's turn, before what the answer is for begins
   */
  read<T>(run: () => Promise<T>, mustRest: () => boolean, turn: () => Promise<void> | undefined): Promise<T> {
    return this.#reads.run(async () => {
      const rest = this.#restsUntil - performance.now()
      if (rest > 0) await delay(rest)
      const since = performance.now()
      try {
        return await run()
      } finally {
        const now = performance.now()
        if (mustRest()) this.#restsUntil = now + Math.min(now - since, MAX_REST_MS)
        const waiting = turn()
        if (waiting) await waiting
      }
    })
  }
}
