/** Claims of so many kinds are known at a time. */
const MAX_KEPT = 1_000

/**
 * Searches that found nothing at all. Until work comes up, of which this process is told, another one for the same would
 * find nothing either: an agent that is handed one thing after the other need not look in between.
 */
export class Looks {
  readonly #everyMs: number
  readonly #vain = new Map<string, Date>()
  #rings = 0

  /** @param everyMs so often it is looked all the same: some work comes up without anybody saying so */
  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** @param rings how often work had come up before the search began */
  noteVain(key: string, rings: number, now: Date): void {
    if (rings < this.#rings) return
    if (rings > this.#rings || this.#vain.size >= MAX_KEPT) this.#vain.clear()
    this.#rings = rings
    this.#vain.set(key, now)
  }

  /** For so many milliseconds there is no use in looking. */
  vainFor(key: string, rings: number, now: Date): number {
    const at = this.#vain.get(key)
    if (!at || rings !== this.#rings) return 0
    const since = now.getTime() - at.getTime()
    return since < 0 ? 0 : Math.max(0, this.#everyMs - since)
  }
}
