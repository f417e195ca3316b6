/**
 * Bounds the connections on which transactions of this process wait for a tree or a project that another transaction has
 * locked. Whoever may not wait gives the connection back, and tries again.
 */
export class LockWaits {
  #free: number

  constructor(poolSize: number) {
    this.#free = Math.floor(poolSize / 2)
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
