import type { Pool } from 'pg'
import type { Signal } from '../core/ports/signal.ts'
import { float8, text } from './column-types.ts'
import type { DatabaseClock } from './database-clock.ts'
import { statement } from './statement.ts'

/** How long a write of another process goes unnoticed, in milliseconds, and where its messages arrive besides. */
const LOOK_MS = 250
const LOOK_CONNECTED_MS = 1_000
/** After so many looks that have seen no write they are as rare without messages. */
const QUIET_LOOKS = 2
/** A look that is older, in milliseconds, says nothing of what is written meanwhile. */
const FRESH_MS = 2_000
/** Interval of searches that are also made after each write and at their times, in milliseconds: for what nobody has thought of. */
export const SEARCH_WATCHED_MS = 10_000

/**
 * A snapshot of the ended transactions. Two equal snapshots see the same rows, so a search that found nothing finds
 * nothing again, unless it depends on the time.
 */
const SNAPSHOT = statement({
  name: 'write-watch',
  text: 'select pg_current_snapshot()::text as snapshot, extract(epoch from clock_timestamp())::float8 * 1000 as shown',
  row: { snapshot: text, shown: float8 },
})

/** Notifies searches for work of writes to the database. */
export interface Writes {
  /**
   * Calls back soon after a transaction of any process has written, or the time has jumped. Synchronous; must not throw.
   * @param handler is passed whether the time has jumped
   */
  onWrite(handler: (isJump: boolean) => void): void
  /**
   * True if no transaction has written since a time of `performance.now()`, but for what the next look notices. A statement that was
   * sent then would read the same again.
   */
  isQuietSince(at: number): boolean
  /** When the last look was sent, by `performance.now()`: a write since then is noticed by the next one. */
  readonly lookedAt: number
}

/**
 * Runs one cheap query on behalf of all that would otherwise search their tables as often. It queries the database, so
 * it needs no message from the writer.
 */
export class WriteWatch implements Writes, AsyncDisposable {
  readonly #pool: Pick<Pool, 'query'>
  readonly #signal: Pick<Signal, 'connected'>
  readonly #clock: Pick<DatabaseClock, 'observe'> | null
  readonly #handlers = new Set<(isJump: boolean) => void>()
  #timer: NodeJS.Timeout
  #snapshot = ''
  #quietLooks = 0
  /** By `performance.now()`: when the first look was answered that has seen what the last one saw, and when the last one was sent. */
  #quietSince = Number.POSITIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | null = null

  /**
   * @param signal while its messages arrive, looks are rarer
   * @param clock is measured by the same query
   */
  constructor(
    pool: Pick<Pool, 'query'>,
    signal: Pick<Signal, 'connected'> = { connected: false },
    clock: Pick<DatabaseClock, 'observe'> | null = null,
  ) {
    this.#pool = pool
    this.#signal = signal
    this.#clock = clock
    this.#timer = this.#next()
  }

  onWrite(handler: (isJump: boolean) => void): void {
    this.#handlers.add(handler)
  }

  /** Calls back at once, as after a jump of the database's clock. */
  timeMoved(): void {
    this.#quietSince = performance.now()
    for (const handler of this.#handlers) handler(true)
  }

  isQuietSince(at: number): boolean {
    return this.#quietSince <= at && performance.now() - this.#lookedAt < FRESH_MS
  }

  get lookedAt(): number {
    return this.#lookedAt
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer)
    await this.#looking
  }

  #next(): NodeJS.Timeout {
    return setTimeout(
      () => {
        this.#timer = this.#next()
        this.#looking ??= this.#look().finally(() => {
          this.#looking = null
        })
      },
      this.#signal.connected || this.#quietLooks >= QUIET_LOOKS ? LOOK_CONNECTED_MS : LOOK_MS,
    )
  }

  async #look(): Promise<void> {
    const before = this.#snapshot
    // Unknown after a failure, which the searches meanwhile report.
    this.#snapshot = ''
    let isJump = false
    const sentAt = performance.now()
    try {
      const { rows } = await SNAPSHOT.query(this.#pool, [])
      const [row] = rows
      this.#snapshot = row?.snapshot ?? ''
      if (row) isJump = this.#clock?.observe(sentAt, row.shown) ?? false
    } catch {}
    this.#quietLooks++
    this.#lookedAt = sentAt
    if (this.#snapshot !== '' && this.#snapshot === before && !isJump) return
    this.#quietLooks = 0
    this.#quietSince = this.#snapshot === '' ? Number.POSITIVE_INFINITY : performance.now()
    for (const handler of this.#handlers) handler(isJump)
  }
}
