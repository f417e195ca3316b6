/** Output and progress show up within so many milliseconds. */
const INTERVAL_MS = 250

/** One timer for whoever has to look again from time to time. It runs only while somebody waits. */
export class SharedInterval {
  readonly #waiting = new Set<() => boolean>()
  #timer: NodeJS.Timeout | undefined
  #beat = 0

  /** Resolves at the next beat that can be divided by `every`; all who wait for it together. At once when aborted. */
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
