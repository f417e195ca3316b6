/** Lets one piece of work run at a time, in the order in which they came. */
export class OneAtATime {
  readonly #waiting: (() => void)[] = []
  #isRunning = false

  /** Work that runs or waits. */
  get size(): number {
    return this.#waiting.length + (this.#isRunning ? 1 : 0)
  }

  /** Runs the work once all before it has ended. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isRunning) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#isRunning = true
    try {
      return await work()
    } finally {
      this.#end()
    }
  }

  #end(): void {
    const next = this.#waiting.shift()
    // It stays taken for the next one.
    if (next) next()
    else this.#isRunning = false
  }
}
