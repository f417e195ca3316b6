/** Bounds the remembered searches, and the characters of each: a search for many types and targets is not remembered. */
const MAX_ENTRIES = 1_000
const MAX_KEY = 4_096

/**
 * Remembers searches that found nothing. An equal search finds nothing either until a notification of new work comes, so
 * an agent that takes one item after the other saves a search in between.
 */
export class EmptyClaimCache {
  readonly #validMs: number
  readonly #searchedAt = new Map<string, Date>()
  readonly #searches = new Map<string, Promise<unknown>>()
  #notices = 0

  /** @param validMs lifetime of an entry, since work that backs off is offered without a notification */
  constructor(validMs: number) {
    this.#validMs = validMs
  }

  /** @param notices their number when the search began */
  remember(key: string, notices: number, now: Date): void {
    if (notices < this.#notices || key.length > MAX_KEY) return
    if (notices > this.#notices || this.#searchedAt.size >= MAX_ENTRIES) this.#searchedAt.clear()
    this.#notices = notices
    this.#searchedAt.set(key, new Date(now))
  }

  /** A search has begun; `remember` is called before it ends. */
  begin(key: string, search: Promise<unknown>): void {
    if (key.length > MAX_KEY || this.#searches.size >= MAX_ENTRIES) return
    const ended = search
      .catch(() => undefined)
      .finally(() => {
        if (this.#searches.get(key) === ended) this.#searches.delete(key)
      })
    this.#searches.set(key, ended)
  }
  /** Resolves when an equal search that runs now has ended, however it ends. */
  async searching(key: string): Promise<void> {
    await this.#searches.get(key)
  }

  /** Another one after an equal search that found nothing, too. */
  lastSearch(key: string): object | undefined {
    return this.#searchedAt.get(key)
  }

  /** Milliseconds during which a search finds nothing; 0: it may find something. */
  validFor(key: string, notices: number, now: Date): number {
    const at = this.#searchedAt.get(key)
    if (!at || notices !== this.#notices) return 0
    const ageMs = now.getTime() - at.getTime()
    return ageMs < 0 ? 0 : Math.max(0, this.#validMs - ageMs)
  }
}
