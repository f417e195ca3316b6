/** How long an owner is suspect after one of its jobs was stopped, or slow, in milliseconds. */
const SUSPECT_MS = 60_000
/**
 * How long the jobs of an owner wait after one of them was stopped, in milliseconds. A job that is stopped takes a processor for its
 * whole limit, and so does the start of the next worker.
 */
const REST_MS = 2_000
/** Bounds the remembered owners; the oldest are forgotten first. */
const MAX_OWNERS = 1_000

interface Suspect {
  readonly until: number
  readonly restUntil: number
}

/** Owners whose jobs had to be stopped lately, or took long. */
export class Suspects {
  readonly #suspects = new Map<unknown, Suspect>()

  slow(owner: unknown): void {
    this.#add(owner, this.#suspects.get(owner)?.restUntil ?? 0)
  }
  stopped(owner: unknown): void {
    this.#add(owner, performance.now() + REST_MS)
  }

  has(owner: unknown): boolean {
    return (this.#suspects.get(owner)?.until ?? 0) > performance.now()
  }
  /** Milliseconds until its next job may run; 0: now. */
  restOf(owner: unknown): number {
    return Math.max(0, (this.#suspects.get(owner)?.restUntil ?? 0) - performance.now())
  }

  #add(owner: unknown, restUntil: number): void {
    this.#suspects.delete(owner)
    this.#suspects.set(owner, { until: performance.now() + SUSPECT_MS, restUntil })
    if (this.#suspects.size > MAX_OWNERS) this.#suspects.delete(this.#suspects.keys().next().value)
  }
}
