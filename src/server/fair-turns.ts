import { RoundRobin } from './round-robin.ts'

/** Milliseconds of one turn of the event loop in which work of callers is begun before sockets are looked at again. */
const SLICE_MS = 1
/** Pieces of work that may be begun in the meantime. */
const MAX_BEGUN = 8

/**
 * Shares the event loop between callers by round robin: each caller that waits begins one piece of its work per turn, so a
 * caller with much work does not delay one with little. While no caller waits, work begins at once.
 */
export class FairTurns {
  readonly #waiting = new RoundRobin()
  #sliceEnds = 0
  /** At once, in this slice. */
  #begun = 0
  #isScheduled = false

  /** Resolves when it is the caller's turn, for one piece of its work. Undefined: it is at once. */
  next(caller: object): Promise<void> | undefined {
    if (!this.#isScheduled) this.#schedule()
    if (this.#waiting.isEmpty && this.#begun < MAX_BEGUN && performance.now() < this.#sliceEnds) {
      this.#begun += 1
      return undefined
    }
    return this.#waiting.wait(caller)
  }

  /** Each piece has an immediate of its own, since what it awaits runs only after that. */
  #schedule(): void {
    this.#isScheduled = true
    this.#startSlice()
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#waiting.isEmpty) return
      // Before the first piece, so that the immediates of a slice follow each other.
      this.#schedule()
      this.#beginOne()
    })
    if (this.#waiting.isEmpty) return
    for (let i = 1; i < MAX_BEGUN; i++) setImmediate(() => this.#beginOne())
  }

  #startSlice(): void {
    this.#sliceEnds = performance.now() + SLICE_MS
    this.#begun = 0
  }

  #beginOne(): void {
    if (performance.now() < this.#sliceEnds) this.#waiting.next()
  }
}
