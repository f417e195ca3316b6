/** Output and progress appear within this many milliseconds. */
const INTERVAL_MS = 250

/** One timer for all that poll. It runs only while one of them waits. */
export class SharedInterval {
  readonly #waiting = new Set<() => boolean>()
  #timer: NodeJS.Timeout | undefined
  #beat = 0

  /** Resolves at the next beat that is a multiple of `every`, for all waiters together; at once when aborted. */
  next(signal: AbortSignal, every = 1): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        if (!signal.aborted && this.#beat % every !== 0) return false
        signal.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
        return true
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
      this.#timer ??= setInterval(() => this.#tick(), INTERVAL_MS)
    })
  }

  #tick(): void {
    this.#beat += 1
    for (const wake of [...this.#waiting]) wake()
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
