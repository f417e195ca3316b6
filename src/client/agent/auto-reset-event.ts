/** One waiter, any number of setters. An event set while nobody waits ends the next wait at once. */
export class AutoResetEvent {
  #isSet = false
  #release: () => void = () => undefined

  // Called for every item: an AbortController would create an exception, with its stack, each time.
  set(): void {
    this.#isSet = true
    this.#release()
  }

  /** Resolves when the event is set, after `ms`, or when the signal aborts; resets it. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isSet && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          this.#release = () => undefined
          resolve()
        }
        // The time may have passed while the caller computed it: a negative one would print a warning of Node.
        const timer = setTimeout(done, Math.max(0, ms))
        signal.addEventListener('abort', done)
        this.#release = done
      })
    }
    this.#isSet = false
  }
}
