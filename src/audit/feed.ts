import type { Pool } from 'pg'
import {
  type AuditCursor,
  type AuditFilter,
  type ChainEnd,
  cursorAt,
  encodeAuditCursor,
  isAtCursor,
  matchesFilter,
} from '../core/audit.ts'
import { AuditCursorExpired, type AuditRow } from '../core/ports/audit.ts'
import type { Signal } from '../core/ports/signal.ts'
import { retryTransient } from '../log/retry-transient.ts'
import { listen } from '../log/signal/listen.ts'
import type { Logger } from '../logger.ts'
import { auditAnchor, auditAt, auditBetween, auditHead } from '../store/audit.ts'

const CHANNEL = 'phaseline:audit'
/** Events of one read. */
const PAGE = 200
/** How long a lost message of another process goes unnoticed, with a connected signal and without. */
const CHECK_MS = 1_000
const CHECK_ALONE_MS = 250

const EVERYTHING: AuditFilter = {
  ...{ projects: null, principalId: null, tokenId: null, operation: null, project: null },
  ...{ objectId: null, outcome: null, since: null, until: null },
}

interface Page {
  readonly events: readonly AuditRow[]
  /** Everything that matches up to here is in the page. */
  readonly through: AuditCursor
  readonly isFull: boolean
}

interface FeedParts {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
}

/**
 * The live end of the chain for those who follow it. All that wait there share one read of what comes next. Messages are
 * only hints: what is delivered is read from Postgres. Without followers it reads nothing.
 */
export class AuditFeed implements AsyncDisposable {
  readonly #parts: FeedParts
  readonly #subscription: { close(): Promise<void> }
  readonly #waiting = new Set<() => void>()
  /** Reads of everything after a place, since the chain has last moved. */
  readonly #pages = new Map<string, Promise<Page>>()
  /** Counts the moves of the chain's end. */
  #moves = 0
  #followers = 0
  /** The head as it was last seen. Another copy of the database may be as long. */
  #seen = ''
  #timer: NodeJS.Timeout | null = null
  #checking: Promise<void> | null = null
  #checkedAt = 0

  constructor(parts: FeedParts) {
    this.#parts = parts
    this.#subscription = listen(parts.signal, CHANNEL, () => this.#check(), parts.logger)
  }

  /** This process has moved the end of the chain. */
  chained(head: ChainEnd): void {
    this.#parts.signal.publish(CHANNEL, String(head.sequence))
    this.#moved(encodeAuditCursor(cursorAt(head)))
  }

  /** Subscriptions to the audit are open in this process. */
  get isFollowed(): boolean {
    return this.#followers > 0
  }

  async *follow(filter: AuditFilter, after: AuditCursor, signal: AbortSignal): AsyncGenerator<AuditRow> {
    this.#followers += 1
    try {
      yield* this.#eventsAfter(filter, after, signal)
    } finally {
      this.#followers -= 1
    }
  }

  async *#eventsAfter(filter: AuditFilter, after: AuditCursor, signal: AbortSignal): AsyncGenerator<AuditRow> {
    let cursor = after
    let isLive = false
    while (!signal.aborted) {
      // Taken before the read: a move during it ends the waiting at once.
      const moves = this.#moves
      const page: Page = isLive ? await this.#next(cursor) : await this.#read(filter, cursor)
      for (const event of page.events) if (matchesFilter(event, filter)) yield event
      cursor = page.through
      isLive = !page.isFull
      if (isLive) await this.#moveAfter(moves, signal)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopTimer()
    await this.#subscription.close()
    await this.#checking
  }

  #next(after: AuditCursor): Promise<Page> {
    const key = encodeAuditCursor(after)
    const page = this.#pages.get(key) ?? this.#read(EVERYTHING, after)
    this.#pages.set(key, page)
    return page
  }

  async #read(filter: AuditFilter, after: AuditCursor): Promise<Page> {
    const { pool, logger } = this.#parts
    const { head, events, anchor, isKept } = await retryTransient(() => readAfter(pool, filter, after), logger)
    if (!isKept) throw new AuditCursorExpired(after, anchor, head)
    const isFull = events.length === PAGE
    return { events, isFull, through: cursorAt((isFull ? events.at(-1) : undefined) ?? head) }
  }

  #moved(head: string): void {
    this.#seen = head
    this.#moves += 1
    this.#pages.clear()
    for (const wake of [...this.#waiting]) wake()
  }

  /** Resolves when the chain has moved since, or when aborted. */
  #moveAfter(moves: number, signal: AbortSignal): Promise<void> {
    if (this.#moves !== moves || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        if (this.#waiting.size === 0) this.#stopTimer()
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
      this.#timer ??= setInterval(() => this.#onTimer(), CHECK_ALONE_MS)
    })
  }

  #stopTimer(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
  }

  #onTimer(): void {
    const isDue = performance.now() - this.#checkedAt >= CHECK_MS
    if (isDue || !this.#parts.signal.connected) this.#check()
  }

  /** One at a time, whatever comes over the signal. */
  #check(): void {
    if (this.#waiting.size === 0 || this.#checking) return
    this.#checkedAt = performance.now()
    this.#checking = auditHead(this.#parts.pool)
      .then((end) => {
        const head = encodeAuditCursor(cursorAt(end))
        if (head !== this.#seen) this.#moved(head)
      })
      .catch((error: unknown) => {
        this.#parts.logger.warn({ err: error }, 'The end of the audit could not be read; trying again.')
      })
      .finally(() => {
        this.#checking = null
      })
  }
}

async function readAfter(pool: Pool, filter: AuditFilter, after: AuditCursor) {
  const head = await auditHead(pool)
  const events = await auditBetween(pool, filter, { after: after.sequence, through: head.sequence, limit: PAGE })
  // Read last: if the place is still there, neither retention nor a restore has taken anything of the page.
  const at = await auditAt(pool, after.sequence)
  const anchor = await auditAnchor(pool)
  const place = anchor.sequence === after.sequence ? anchor : at
  const isKept = anchor.sequence <= after.sequence && place !== null && isAtCursor(place, after)
  return { head, events, anchor, isKept }
}
