/** Seconds of its rate that a bucket holds, for callers that come all at once. */
const BURST_SECONDS = 5

/** Bounds a rate: each request takes a token, and tokens come back at the rate. Times are milliseconds of a monotonic clock. */
export class TokenBucket {
  readonly #perMs: number
  readonly #capacity: number
  #tokens: number
  #filledAt: number

  constructor(perSecond: number, now: number) {
    this.#perMs = perSecond / 1_000
    this.#capacity = perSecond * BURST_SECONDS
    this.#tokens = this.#capacity
    this.#filledAt = now
  }

  /** Takes a token. Otherwise returns in how many milliseconds there is one. */
  take(now: number): number {
    this.#fill(now)
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) / this.#perMs)
    this.#tokens -= 1
    return 0
  }

  /** Takes tokens for what shows only later; what is not there is owed. */
  charge(tokens: number): void {
    this.#tokens -= tokens
  }

  #fill(now: number): void {
    const passed = Math.max(0, now - this.#filledAt)
    this.#tokens = Math.min(this.#capacity, this.#tokens + passed * this.#perMs)
    this.#filledAt = now
  }
}
