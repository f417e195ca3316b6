/** Work that runs in this process, whoever still waits for its result: what it uses must not end before it. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  /** No more is to begin. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  track<T>(running: Promise<T>): Promise<T> {
    this.#running.add(running)
    const done = () => void this.#running.delete(running)
    running.then(done, done)
    return running
  }

  /** Resolves once nothing runs; or after a time, whatever hangs. */
  async idle(withinMs = Number.POSITIVE_INFINITY): Promise<void> {
    const late = Promise.withResolvers<'late'>()
    const timer = Number.isFinite(withinMs) ? setTimeout(() => late.resolve('late'), withinMs) : undefined
    while (this.#running.size > 0) {
      if ((await Promise.race([late.promise, Promise.allSettled(this.#running)])) === 'late') break
    }
    clearTimeout(timer)
  }

  /** Resolves once all that has begun is done. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.idle()
  }
}
