/** Claims of so many kinds are remembered at a time. */
const MAX_ENTRIES = 1_000

/**
 * Searches that found nothing. Until this process hears of new work, another search for the same finds nothing either: an
 * agent that gets one item after the other need not search in between.
 */
export class EmptyClaimCache {
  readonly #everyMs: number
  readonly #searchedAt = new Map<string, Date>()
  #notifications = 0

  /** @param everyMs an entry is valid for so long: work that backs off is offered without a notification */
  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** @param notifications how many had come before the search began */
  remember(key: string, notifications: number, now: Date): void {
    if (notifications < this.#notifications) return
    if (notifications > this.#notifications || this.#searchedAt.size >= MAX_ENTRIES) this.#searchedAt.clear()
    this.#notifications = notifications
    this.#searchedAt.set(key, now)
  }

  /** For so many milliseconds a search finds nothing; 0: it may find something. */
  validFor(key: string, notifications: number, now: Date): number {
    const at = this.#searchedAt.get(key)
    if (!at || notifications !== this.#notifications) return 0
    const since = now.getTime() - at.getTime()
    return since < 0 ? 0 : Math.max(0, this.#everyMs - since)
  }
}
