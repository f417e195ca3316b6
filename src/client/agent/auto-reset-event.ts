/** One waiter, any number of ringers. A ring while nobody waits is remembered. */
export class AutoResetEvent {
  #rung = false
  #answer: () => void = () => undefined

  // Called for every item: an AbortController would make an exception, with its stack, each time.
  set(): void {
    this.#rung = true
    this.#answer()
  }

  /** Returns when it rings, after `ms`, or when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          this.#answer = () => undefined
          resolve()
        }
        const timer = setTimeout(done, ms)
        signal.addEventListener('abort', done)
        this.#answer = done
      })
    }
    this.#rung = false
  }
}
