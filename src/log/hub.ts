import type { Pool } from 'pg'
import type { LogListener, LogStats, PhaseChangeQuery, PhaseChangeRecord, Signal } from '../core/ports.ts'
import type { Logger } from '../logger.ts'
import { type Announcement, decode, logChannel, originOf } from './announcement.ts'
import { Audience } from './audience.ts'
import { type LogHead, readHead } from './head.ts'
import type { Numberer } from './numberer.ts'
import { readPage } from './page.ts'
import { Recent } from './recent.ts'

export interface HubParts {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
  /** This process's own, whose announcements come directly. */
  readonly numberer?: Pick<Numberer, 'listen' | 'origin'> | undefined
}

const EVERYTHING = { projects: null, includeRejected: true } as const
const PAGE = 1_000
/** How long a lost announcement can go unnoticed, with other processes to be heard and without. */
const LOOK_MS = 1_000
const LOOK_ALONE_MS = 200
/** What is recent is kept for so long after the last one has left. */
const KEPT_MS = 30_000

/**
 * The live end of the log, once per process. It hands out what comes next and nothing else: announcements are only
 * the fast path, whatever is missing between them is read from Postgres. While nobody is live it reads nothing.
 */
export class Hub {
  readonly #pool: Pool
  readonly #signal: Signal
  readonly #logger: Logger
  /** What it publishes is known already. */
  readonly #own: string | undefined
  readonly #audience = new Audience<LogListener>()
  /** Its end is what is delivered: all up to there was handed out, or nobody was live who wanted it. */
  readonly #recent: Recent
  readonly #counts = { announcements: 0, stale: 0, gaps: 0, filled: 0, skips: 0 }
  #logId: string
  #subscription: { close(): Promise<void> } | null = null
  /** Known to be numbered. */
  #known: number
  #filling: Promise<void> | null = null
  #looking: Promise<void> | null = null
  #lookedAt = 0
  #tickedAt = 0
  #leftAt = Number.NEGATIVE_INFINITY
  readonly #timer: NodeJS.Timeout
  #closed = false

  /** @param at where the log stands */
  constructor({ pool, signal, logger, numberer }: HubParts, { logId, head }: LogHead) {
    this.#pool = pool
    this.#signal = signal
    this.#logger = logger
    this.#logId = logId
    this.#recent = new Recent(head)
    this.#known = head
    this.#own = numberer?.origin
    numberer?.listen((announcement) => this.#take(announcement))
    this.#subscribe()
    this.#timer = setInterval(() => this.#onTimer(), LOOK_ALONE_MS)
  }

  get logId(): string {
    return this.#logId
  }
  get recent(): Omit<Recent, 'append' | 'restart'> {
    return this.#recent
  }
  get stats(): LogStats {
    return { ...this.#counts, listeners: this.#audience.size, through: this.#recent.through, known: this.#known }
  }

  /** From now on the listener is offered whatever matches and comes after the end of what is recent. */
  join(query: PhaseChangeQuery, listener: LogListener): void {
    this.#audience.add(query, listener)
  }

  /** While nobody is live, whatever was numbered meanwhile is nobody's gap, unless it is just about to be told of. */
  saw({ logId, head }: LogHead): void {
    if (this.#audience.size > 0 || logId !== this.#logId || head <= this.#recent.through + PAGE) return
    this.#recent.restart(head)
    this.#known = Math.max(this.#known, head)
  }

  leave(listener: LogListener): void {
    this.#audience.delete(listener)
    this.#leftAt = performance.now()
  }

  /** Whoever was cut off comes back soon, and finds here what was missed; without anybody it would only grow old in memory. */
  #isForgotten(): boolean {
    return this.#audience.size === 0 && performance.now() - this.#leftAt > KEPT_MS
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    for (const listener of this.#audience.listeners()) this.#audience.delete(listener)
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
    if (this.#own !== undefined && originOf(message) === this.#own) return
    const announcement = decode(message)
    if (announcement) this.#take(announcement)
    else this.#look()
  }

  #take({ from, through, changes }: Announcement): void {
    this.#counts.announcements += 1
    const delivered = this.#recent.through
    if (through <= delivered) {
      this.#counts.stale += 1
      return
    }
    this.#known = Math.max(this.#known, through)
    if (this.#isForgotten()) this.#recent.restart(this.#known)
    else if (changes && from <= delivered + 1) this.#deliver(changes.slice(delivered + 1 - from))
    else if (this.#audience.size === 0) this.#recent.restart(this.#known)
    else {
      if (from > delivered + 1) this.#counts.gaps += 1
      this.#fill()
    }
  }

  #deliver(changes: readonly PhaseChangeRecord[]): void {
    const after = this.#recent.through
    this.#recent.append(changes)
    const { through } = this.#recent
    for (const [listener, own] of this.#audience.route(changes)) listener.offer(own, after, through)
  }

  #fill(): void {
    this.#filling ??= this.#fillPages()
  }

  async #fillPages(): Promise<void> {
    try {
      while (!this.#closed && this.#recent.through < this.#known) {
        if (this.#audience.size === 0) this.#recent.restart(this.#known)
        else await this.#fillPage()
      }
    } catch (error) {
      if (!this.#closed) this.#logger.warn({ err: error }, 'The log could not be read; trying again.')
    } finally {
      this.#filling = null
    }
  }

  async #fillPage(): Promise<void> {
    const after = this.#recent.through
    const page = await readPage(this.#pool, EVERYTHING, { after, limit: PAGE, direction: 'forward' })
    // Announcements may have brought some of these meanwhile.
    const delivered = this.#recent.through
    const changes = page.changes.filter(({ sequence }) => sequence > delivered)
    const [first, last] = [changes[0], changes.at(-1)]
    if (first && last) {
      const whole = first.sequence === delivered + 1 && last.sequence === delivered + changes.length
      if (!whole) return this.#skip(page.head)
      this.#counts.filled += changes.length
      this.#deliver(changes)
    } else if (delivered === after) this.#skip(page.head)
  }

  /** Pruned below us, or the log is not the one it was: what each follower then gets is for its own cursor to find out. */
  #skip(head: number): void {
    const after = this.#recent.through
    this.#logger.warn({ after, head }, 'The log does not go on where it was left; its followers read it again.')
    this.#counts.skips += 1
    this.#recent.restart(head)
    this.#known = head
    for (const listener of this.#audience.listeners()) listener.lost(after)
  }

  #onTimer(): void {
    if (this.#audience.size === 0) return
    const now = performance.now()
    if (now - this.#tickedAt >= LOOK_MS) {
      this.#tickedAt = now
      for (const listener of this.#audience.listeners()) listener.tick(this.#recent.through)
    }
    if (!this.#signal.connected || now - this.#lookedAt >= LOOK_MS) this.#look()
  }

  #look(): void {
    this.#looking ??= this.#lookNow()
  }

  async #lookNow(): Promise<void> {
    this.#lookedAt = performance.now()
    const delivered = this.#recent.through
    try {
      const { logId, head } = await readHead(this.#pool)
      if (logId !== this.#logId) await this.#move(logId, head)
      else if (head < delivered) this.#skip(head)
      else if (head > this.#recent.through) {
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
    this.#skip(head)
    this.#subscribe()
    await old?.close()
  }
}
