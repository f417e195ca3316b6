/** How long an owner is suspect after one of its jobs was stopped, or slow, in milliseconds. */
const SUSPECT_MS = 60_000
/** Bounds the remembered owners; the oldest are forgotten first. */
const MAX_OWNERS = 1_000

/** Owners whose jobs had to be stopped lately, or took long. */
export class Suspects {
  readonly #until = new Map<unknown, number>()

  add(owner: unknown): void {
    this.#until.delete(owner)
    this.#until.set(owner, performance.now() + SUSPECT_MS)
    if (this.#until.size > MAX_OWNERS) this.#until.delete(this.#until.keys().next().value)
  }
  has(owner: unknown): boolean {
    return (this.#until.get(owner) ?? 0) > performance.now()
  }
}
