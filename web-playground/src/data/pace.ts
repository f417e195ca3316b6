/** Rests, in multiples of the time that an answer took. */
const RESTS = 4
/** The longest rest, in milliseconds: a network that was away must not leave an old answer on the page. */
const MOST_MS = 30_000

/**
 * The pace of a question that is asked again and again. A large database, or a slow network, takes long for the answer: then it
 * spends at most a fifth of the time on it, however often something changes.
 */
export class Pace {
  readonly #now: () => number
  #rested = 0

  /** @param now milliseconds that only grow */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Milliseconds until it may be asked again, and no fewer than wanted. */
  delay(wantedMs: number): number {
    return Math.max(wantedMs, this.#rested - this.#now())
  }

  /** Somebody waits for the next answer. */
  hurry(): void {
    this.#rested = 0
  }

  async ask<T>(question: () => Promise<T>): Promise<T> {
    const since = this.#now()
    try {
      return await question()
    } finally {
      const now = this.#now()
      this.#rested = now + Math.min(MOST_MS, RESTS * (now - since))
    }
  }
}
