import type { Pool } from 'pg'
import type { LogCursor, LogListener, LogStats, ResolvedCursor } from '../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { Logger } from '../logger.ts'
import { type Announcement, decode, logChannel, originOf } from './announcement.ts'
import { cursorAt } from './cursor.ts'
import { type LogHead, readHead } from './head.ts'
import type { LogIdentity } from './identity.ts'
import { ListenerIndex } from './listener-index.ts'
import { LiveBuffer } from './live-buffer.ts'
import type { Numberer } from './numberer.ts'
import { readPage } from './page.ts'
import { reopenLog } from './reopen-log.ts'

export interface HubParts {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
  /** This process's own, whose announcements come directly. */
  readonly numberer?: Pick<Numberer, 'listen' | 'origin'> | undefined
  /** The database is another one, or has restarted: what is remembered of it may not be so. */
  readonly onReplaced?: (() => void) | undefined
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
  readonly #listeners = new ListenerIndex<LogListener>()
  /** Its end is what is delivered: all up to there was handed out, or nobody was live who wanted it. */
  readonly #live: LiveBuffer
  readonly #counts = { announcements: 0, stale: 0, gaps: 0, filled: 0, unverified: 0, skips: 0 }
  readonly #onReplaced: (() => void) | undefined
  #identity: LogIdentity
  #lineage = 1
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

  /** @param end where the log stands */
  constructor({ pool, signal, logger, numberer, onReplaced }: HubParts, identity: LogIdentity, end: LogCursor) {
    this.#pool = pool
    this.#signal = signal
    this.#logger = logger
    this.#onReplaced = onReplaced
    this.#identity = identity
    this.#live = new LiveBuffer(end)
    this.#known = end.sequence
    this.#own = numberer?.origin
    numberer?.listen((announcement) => this.#take(announcement))
    this.#subscribe()
    this.#timer = setInterval(() => this.#onTimer(), LOOK_ALONE_MS)
  }

  get identity(): LogIdentity {
    return this.#identity
  }
  get lineage(): number {
    return this.#lineage
  }
  get live(): Omit<LiveBuffer, 'append' | 'restart'> {
    return this.#live
  }
  get stats(): LogStats {
    const { epoch } = this.#identity
    return { ...this.#counts, epoch, listeners: this.#listeners.size, through: this.#live.through, known: this.#known }
  }

  /** From now on the listener is offered whatever matches and comes after the end of what is recent. */
  join(query: PhaseChangeQuery, listener: LogListener): void {
    this.#listeners.add(query, listener)
  }

  /** Whether an answer of the database is of the log that is followed here. If not, refresh before it is used. */
  isOf({ instance, epoch }: LogHead): boolean {
    return instance === this.#identity.instance && epoch === this.#identity.epoch
  }

  /** Whether to tell it where the log ends: nobody is live, or its own end has no mark. */
  get wantsHead(): boolean {
    return this.#listeners.size === 0 || this.#live.end.mark === null
  }

  /** While nobody is live, whatever was numbered meanwhile is nobody's gap, unless it is just about to be told of. */
  saw(head: LogCursor): void {
    const { end } = this.#live
    if (end.mark === null ? head.sequence < end.sequence : head.sequence <= end.sequence + PAGE) return
    if (this.#listeners.size > 0 && head.sequence > end.sequence) return
    this.#live.restart(head)
    this.#known = Math.max(this.#known, head.sequence)
  }

  leave(listener: LogListener): void {
    this.#listeners.delete(listener)
    this.#leftAt = performance.now()
  }

  /** Whoever was cut off comes back soon, and finds here what was missed; without anybody it would only grow old in memory. */
  #isForgotten(): boolean {
    return this.#listeners.size === 0 && performance.now() - this.#leftAt > KEPT_MS
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    for (const listener of this.#listeners.listeners()) this.#listeners.delete(listener)
    await this.#subscription?.close()
    await this.#looking?.catch(() => undefined)
    await this.#filling
  }

  /** Never waited for: the log is read without a signal too, only less often. */
  #subscribe(): void {
    const { logId } = this.#identity
    this.#signal
      .subscribe(logChannel(logId), (message) => this.#hear(message))
      .then((subscription) => {
        if (this.#closed || logId !== this.#identity.logId) return subscription.close()
        this.#subscription = subscription
        return undefined
      })
      .catch((error: unknown) => {
        if (!this.#closed) this.#logger.warn({ err: error }, 'The log cannot be heard of; it is polled.')
      })
  }

  #hear(message: string): void {
    if (this.#own !== undefined && originOf(message) === this.#own) return
    const announcement = decode(message, this.#identity)
    if (announcement) return this.#take(announcement)
    this.#counts.unverified += 1
    // It may be of this very database after a restart; whoever else publishes here can cause no more looks than a timer does.
    if (performance.now() - this.#lookedAt >= LOOK_ALONE_MS) this.#look()
  }

  #take({ instance, from, through, changes }: Announcement): void {
    this.#counts.announcements += 1
    // The database was replaced, or has restarted: what is known here has to be found in it first.
    if (instance !== this.#identity.instance) return this.#look()
    const delivered = this.#live.through
    if (through <= delivered) {
      this.#counts.stale += 1
      return
    }
    this.#known = Math.max(this.#known, through)
    if (this.#isForgotten()) this.#forget(changes)
    else if (changes && from <= delivered + 1) this.#deliver(changes.slice(delivered + 1 - from))
    else if (this.#listeners.size === 0) this.#forget(changes)
    else {
      if (from > delivered + 1) this.#counts.gaps += 1
      this.#fill()
    }
  }

  /** Nobody is live: what is recent starts anew where the log is known to be. */
  #forget(changes: readonly PhaseChangeRecord[] | null = null): void {
    const last = changes?.at(-1)
    this.#live.restart(last?.sequence === this.#known ? cursorAt(last) : { sequence: this.#known, mark: null })
  }

  #end(): ResolvedCursor {
    return { lineage: this.#lineage, ...this.#live.end }
  }

  #deliver(changes: readonly PhaseChangeRecord[]): void {
    const after = this.#end()
    this.#live.append(changes)
    const through = this.#end()
    for (const [listener, own] of this.#listeners.route(changes)) listener.offer(own, after, through)
  }

  #fill(): void {
    this.#filling ??= this.#fillPages()
  }

  async #fillPages(): Promise<void> {
    try {
      while (!this.#closed && this.#live.through < this.#known) {
        if (this.#listeners.size === 0) this.#forget()
        else if (!(await this.#fillPage())) break
      }
    } catch (error) {
      if (!this.#closed) this.#logger.warn({ err: error }, 'The log could not be read; trying again.')
    } finally {
      this.#filling = null
    }
  }

  /** False: the database is another one than before. */
  async #fillPage(): Promise<boolean> {
    const after = this.#live.through
    const page = await readPage(this.#pool, EVERYTHING, { after, limit: PAGE, direction: 'forward' })
    if (!this.isOf(page)) {
      this.#look()
      return false
    }
    // Announcements may have brought some of these meanwhile.
    const delivered = this.#live.through
    const changes = page.changes.filter(({ sequence }) => sequence > delivered)
    const [first, last] = [changes[0], changes.at(-1)]
    if (first && last) {
      const whole = first.sequence === delivered + 1 && last.sequence === delivered + changes.length
      if (whole) {
        this.#counts.filled += changes.length
        this.#deliver(changes)
      } else this.#skip(await readHead(this.#pool))
    } else if (delivered === after) this.#skip(await readHead(this.#pool))
    return true
  }

  /** Pruned below us, or the log is not the one it was: what each follower then gets is for its own cursor to find out. */
  #skip({ sequence, mark }: LogCursor): void {
    const after = this.#end()
    if (this.#listeners.size > 0) {
      this.#logger.warn(
        { after: after.sequence, head: sequence },
        'The log does not go on where it was left; its followers read it again.',
      )
    }
    this.#counts.skips += 1
    this.#lineage += 1
    this.#live.restart({ sequence, mark })
    this.#known = sequence
    for (const listener of this.#listeners.listeners()) listener.lost(after)
  }

  #onTimer(): void {
    if (this.#listeners.size === 0) return
    const now = performance.now()
    if (now - this.#tickedAt >= LOOK_MS) {
      this.#tickedAt = now
      for (const listener of this.#listeners.listeners()) listener.tick(this.#end())
    }
    if (!this.#signal.connected || now - this.#lookedAt >= LOOK_MS) this.#look()
  }

  /** Finds out which log this is by now. Rejects when the database cannot be reached. */
  refresh(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  #look(): void {
    this.refresh().catch((error: unknown) => {
      if (!this.#closed) this.#logger.warn({ err: error }, 'The head of the log could not be read; trying again.')
    })
  }

  async #lookNow(): Promise<void> {
    this.#lookedAt = performance.now()
    const delivered = this.#live.through
    const found = await readHead(this.#pool)
    if (!this.isOf(found)) await this.#reopen()
    else if (found.sequence < delivered) this.#skip(found)
    else this.#advance(found.sequence)
  }

  #advance(head: number): void {
    if (head <= this.#live.through) return
    this.#known = Math.max(this.#known, head)
    this.#fill()
  }

  /** Another server, another database, or the same one restarted: the log goes on if what was delivered is in it. */
  async #reopen(): Promise<void> {
    const { end } = this.#live
    const { identity, head, goesOn } = await reopenLog(this.#pool, this.#live, this.#identity)
    // What was announced meanwhile is of the database of before: the next look takes it in.
    if (this.#live.end !== end) throw new Error('The log has moved while it was being opened.')
    this.#adopt(identity)
    if (goesOn) this.#advance(head.sequence)
    else this.#skip(head)
  }

  #adopt(identity: LogIdentity): void {
    const old = this.#identity
    this.#identity = identity
    this.#onReplaced?.()
    if (identity.epoch !== old.epoch) {
      const { epoch, epochBase } = identity
      this.#logger.warn(
        { epoch, from: epochBase },
        'The database was restored or failed over: a new epoch of the log begins.',
      )
    }
    if (identity.logId === old.logId) return
    const subscription = this.#subscription
    this.#subscription = null
    this.#subscribe()
    // A channel that is not heard any more does no harm.
    subscription?.close().catch(() => undefined)
  }
}
