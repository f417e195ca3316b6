import type { Pool } from 'pg'
import type { PhaseChangeRecord, Signal } from '../core/ports.ts'
import type { Logger } from '../logger.ts'
import { type Announcement, decode, logChannel } from './announcement.ts'
import { Dispatch } from './dispatch.ts'
import { type LogHead, readHead } from './head.ts'
import { readPage } from './page.ts'

/** What the hub tells a live follower. All three are synchronous and never throw. */
export interface Listener {
  /** The next sequences, without a gap since the last call or since it joined. */
  offer(dispatch: Dispatch): void
  /** Once a second: a good moment to tell how far a stream has come in which nothing matched. */
  tick(): void
  /** The hub skips or was moved to another log: read for yourself, from your own cursor. */
  lost(): void
}

export interface HubParts {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
}

const EVERYTHING = { projects: null, includeRejected: true } as const
const PAGE = 1_000
/** How long a lost announcement can go unnoticed, with other processes to be heard and without. */
const LOOK_MS = 1_000
const LOOK_ALONE_MS = 200

/**
 * The live end of the log, once per process. It hands out `delivered + 1` and nothing else: announcements are only
 * the fast path, whatever is missing between them is read from Postgres. While nobody is live it reads nothing.
 */
export class Hub {
  readonly #pool: Pool
  readonly #signal: Signal
  readonly #logger: Logger
  readonly #listeners = new Set<Listener>()
  #logId: string
  #subscription: { close(): Promise<void> } | null = null
  /** All up to here is handed out, or was numbered while nobody was live. */
  #delivered: number
  /** Known to be numbered. */
  #known: number
  #filling: Promise<void> | null = null
  #looking: Promise<void> | null = null
  #lookedAt = 0
  #tickedAt = 0
  readonly #timer: NodeJS.Timeout
  #closed = false

  /** @param at where the log stands */
  constructor({ pool, signal, logger }: HubParts, { logId, head }: LogHead) {
    this.#pool = pool
    this.#signal = signal
    this.#logger = logger
    this.#logId = logId
    this.#delivered = head
    this.#known = head
    this.#subscribe()
    this.#timer = setInterval(() => this.#onTimer(), LOOK_ALONE_MS)
  }

  /**
   * From now on the listener is offered everything after the sequence that is returned.
   * @param head known to be numbered
   */
  join(listener: Listener, head: number): number {
    // Nobody was live, so whatever was numbered meanwhile is nobody's gap.
    if (this.#listeners.size === 0) {
      this.#delivered = Math.max(this.#delivered, head)
      this.#known = Math.max(this.#known, this.#delivered)
    }
    this.#listeners.add(listener)
    return this.#delivered
  }

  leave(listener: Listener): void {
    this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    this.#listeners.clear()
    await this.#subscription?.close()
    await this.#looking
    await this.#filling
  }

  /** Never waited for: the log is read without a signal too, only less often. */
  #subscribe(): void {
    const logId = this.#logId
    this.#signal
      .subscribe(logChannel(logId), (message) => this.#hear(message))
      .then((subscription) => {
        if (this.#closed || logId !== this.#logId) return subscription.close()
        this.#subscription = subscription
        return undefined
      })
      .catch((error: unknown) => {
        if (!this.#closed) this.#logger.warn({ err: error }, 'The log cannot be heard of; it is polled.')
      })
  }

  #hear(message: string): void {
    const announcement = decode(message)
    if (announcement) this.#take(announcement)
    else this.#look()
  }

  #take({ from, through, changes }: Announcement): void {
    if (through <= this.#delivered) return
    this.#known = Math.max(this.#known, through)
    if (this.#listeners.size === 0) this.#delivered = this.#known
    else if (changes && from <= this.#delivered + 1) this.#deliver(changes.slice(this.#delivered + 1 - from), through)
    else this.#fill()
  }

  #deliver(changes: readonly PhaseChangeRecord[], through: number): void {
    this.#delivered = through
    const dispatch = new Dispatch(changes, through)
    for (const listener of this.#listeners) listener.offer(dispatch)
  }

  #fill(): void {
    this.#filling ??= this.#fillPages()
  }

  async #fillPages(): Promise<void> {
    try {
      while (!this.#closed && this.#delivered < this.#known) {
        if (this.#listeners.size === 0) this.#delivered = this.#known
        else await this.#fillPage()
      }
    } catch (error) {
      if (!this.#closed) this.#logger.warn({ err: error }, 'The log could not be read; trying again.')
    } finally {
      this.#filling = null
    }
  }

  async #fillPage(): Promise<void> {
    const after = this.#delivered
    const page = await readPage(this.#pool, EVERYTHING, { after, limit: PAGE, direction: 'forward' })
    // Announcements may have brought some of these meanwhile.
    const changes = page.changes.filter(({ sequence }) => sequence > this.#delivered)
    const [first, last] = [changes[0], changes.at(-1)]
    if (first && last) {
      const whole = first.sequence === this.#delivered + 1 && last.sequence === this.#delivered + changes.length
      if (whole) this.#deliver(changes, last.sequence)
      else this.#skip(page.head, after)
    } else if (this.#delivered === after) this.#skip(page.head, after)
  }

  /** Pruned below us, or the log is not the one it was: what each follower then gets is for its own cursor to find out. */
  #skip(head: number, after: number): void {
    this.#logger.warn({ after, head }, 'The log does not go on where it was left; its followers read it again.')
    this.#delivered = head
    this.#known = head
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener.lost()
  }

  #onTimer(): void {
    if (this.#listeners.size === 0) return
    const now = performance.now()
    if (now - this.#tickedAt >= LOOK_MS) {
      this.#tickedAt = now
      for (const listener of this.#listeners) listener.tick()
    }
    if (!this.#signal.connected || now - this.#lookedAt >= LOOK_MS) this.#look()
  }

  #look(): void {
    this.#looking ??= this.#lookNow()
  }

  async #lookNow(): Promise<void> {
    this.#lookedAt = performance.now()
    const delivered = this.#delivered
    try {
      const { logId, head } = await readHead(this.#pool)
      if (logId !== this.#logId) await this.#move(logId, head)
      else if (head < delivered) this.#skip(head, delivered)
      else if (head > this.#delivered) {
        this.#known = Math.max(this.#known, head)
        this.#fill()
      }
    } catch (error) {
      if (!this.#closed) this.#logger.warn({ err: error }, 'The head of the log could not be read; trying again.')
    } finally {
      this.#looking = null
    }
  }

  async #move(logId: string, head: number): Promise<void> {
    const old = this.#subscription
    this.#subscription = null
    this.#logId = logId
    this.#skip(head, this.#delivered)
    this.#subscribe()
    await old?.close()
  }
}
