/** How long a timeout of a lock makes the waits of others brief, in milliseconds. */
const TENSE_MS = 2_000

/**
 * Bounds the connections on which this process waits for locks of other transactions: on a tree or a project, each with
 * many others, or a lock that all trees of a family need. A task that may not wait returns its connection and retries.
 */
export class LockWaits {
  #free: number
  #tenseUntil = Number.NEGATIVE_INFINITY

  constructor(poolSize: number) {
    this.#free = Math.floor(poolSize / 2)
  }

  /** A wait was in vain. Until none has been for a while, no transaction waits for long on its connection. */
  timedOut(): void {
    this.#tenseUntil = performance.now() + TENSE_MS
  }
  get isTense(): boolean {
    return performance.now() < this.#tenseUntil
  }

  /** Runs `lock` with whether it may wait. */
  async during<T>(mayWait: boolean, lock: (waits: boolean) => Promise<T>): Promise<T> {
    const waits = mayWait && this.#free > 0
    if (!waits) return await lock(false)
    this.#free--
    try {
      return await lock(true)
    } finally {
      this.#free++
    }
  }
}
