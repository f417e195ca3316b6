import type { Writes } from '../../store/write-watch.ts'

/** Bounds the remembered searches, and the characters of each: a search for many types and targets is not remembered. */
const MAX_ENTRIES = 1_000
const MAX_KEY = 4_096

interface EmptySearch {
  readonly at: Date
  /** Before its statement was sent, by `performance.now()`, as are `dueAt` and `until`. */
  readonly begunAt: number
  /** When the time alone brings something, as far as the search has seen. */
  readonly dueAt: number
  /** Until then nothing comes up by the time alone; null: nobody has asked. */
  until: Promise<number> | number | null
}
interface Found {
  readonly begunAt?: number
  /** Milliseconds until the time alone brings something, if the search sees that. */
  readonly nextMs?: number
}

/**
 * Remembers searches that found nothing. An equal search finds nothing either until a notification of new work comes, so
 * an agent that takes one item after the other saves a search in between. That holds for longer while nothing is written.
 */
export class EmptyClaimCache {
  readonly #validMs: number
  readonly #writes: Pick<Writes, 'isQuietSince' | 'lookedAt'> | undefined
  readonly #found = new Map<string, EmptySearch>()
  readonly #searches = new Map<string, Promise<unknown>>()
  #notices = 0

  /** @param validMs lifetime of an entry, since work that backs off is offered without a notification */
  constructor(validMs: number, writes?: Pick<Writes, 'isQuietSince' | 'lookedAt'>) {
    this.#validMs = validMs
    this.#writes = writes
  }

  /** @param notices their number when the search began */
  remember(
    key: string,
    notices: number,
    now: Date,
    { begunAt = performance.now(), nextMs = Number.POSITIVE_INFINITY }: Found = {},
  ): void {
    if (notices < this.#notices || key.length > MAX_KEY) return
    if (notices > this.#notices || this.#found.size >= MAX_ENTRIES) this.#found.clear()
    this.#notices = notices
    this.#found.set(key, { at: new Date(now), begunAt, dueAt: performance.now() + nextMs, until: null })
  }

  /**
   * Asks how long nothing comes up by the time alone, once for each search, if nothing was written since it. Resolves to the
   * milliseconds during which a search finds nothing.
   */
  async prolong(key: string, notices: number, untilNext: () => Promise<number>): Promise<number> {
    const search = this.#found.get(key)
    if (!search || !this.#isQuiet(search, notices)) return 0
    const askedAt = performance.now()
    search.until ??= untilNext().then((ms) => askedAt + ms)
    try {
      search.until = await search.until
    } catch (error) {
      search.until = null
      throw error
    }
    return this.#prolongedFor(search, notices)
  }

  /** Milliseconds until the time alone brings something to a search that sees that; 0: it is to be made again first. */
  untilDue(key: string, notices: number): number {
    const search = this.#found.get(key)
    return search && this.#isQuiet(search, notices) ? Math.max(0, search.dueAt - performance.now()) : 0
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
    return this.#found.get(key)
  }

  /** Milliseconds during which a search finds nothing; 0: it may find something. */
  validFor(key: string, notices: number, now: Date): number {
    const search = this.#found.get(key)
    if (!search || notices !== this.#notices) return 0
    const ageMs = now.getTime() - search.at.getTime()
    const freshMs = ageMs < 0 ? 0 : this.#validMs - ageMs
    return freshMs > 0 ? freshMs : this.#prolongedFor(search, notices)
  }

  #isQuiet({ begunAt }: EmptySearch, notices: number): boolean {
    return notices === this.#notices && (this.#writes?.isQuietSince(begunAt) ?? false)
  }

  /** For as long as an entry lives from the last look on: a write that it has not seen is found no later than one after a search. */
  #prolongedFor(search: EmptySearch, notices: number): number {
    if (typeof search.until !== 'number' || !this.#writes || !this.#isQuiet(search, notices)) return 0
    return Math.max(0, Math.min(search.until, this.#writes.lookedAt + this.#validMs) - performance.now())
  }
}
