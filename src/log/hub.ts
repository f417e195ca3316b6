import type { Pool } from 'pg'
import type { LogCursor, LogListener, LogStats } from '../core/ports/log.ts'
import type { PhaseChangeQuery } from '../core/ports/phase-change.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { Logger } from '../logger.ts'
import type { Announcement } from './announcement.ts'
import { AnnouncementFeed } from './announcement-feed.ts'
import { GapFiller, PAGE } from './gap-filler.ts'
import { type LogHead, readHead } from './head.ts'
import type { LogIdentity } from './identity.ts'
import type { LiveBuffer } from './live-buffer.ts'
import { LiveEnd } from './live-end.ts'
import type { Numberer } from './numberer.ts'
import { reopenLog } from './reopen-log.ts'
import { traceDelivery } from './trace-delivery.ts'

export interface HubParts {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
  /** This process's own, whose announcements come directly. */
  readonly numberer?: Pick<Numberer, 'listen' | 'origin'> | undefined
  /** The database was replaced or has restarted: caches of its content may be wrong. */
  readonly onReplaced?: (() => void) | undefined
}

/** How long a lost announcement goes unnoticed, with a connected signal and without. */
const CHECK_MS = 1_000
const CHECK_ALONE_MS = 200

/**
 * The live end of the log, once per process. It delivers new changes and nothing else: announcements are only the fast
 * path, gaps between them are read from Postgres. Without listeners it reads nothing.
 *
 * - Alone, until somebody joins: keeps the buffer of the last changes; `observeHead` may move its end. No timer runs. Announcements of
 *   others are heard from the first listener on.
 * - Level, with listeners: the end of the buffer is what is known to be numbered. An announcement that follows it is delivered at once.
 * - Behind, after an announcement with a gap, or when the timer finds a higher head: the filler reads the missing changes in pages, one
 *   read at a time, and announcements only raise what is known. Leads to level.
 * - Skipping, when changes are pruned, or the log is another one: the buffer restarts at the head, and each listener gets `lost`, to read by
 *   themselves. Leads to level, with the next lineage if the log was replaced.
 * - Closed: the feed is unsubscribed and the timer is stopped. Nothing leads out.
 */
export class Hub {
  readonly #pool: Pool
  readonly #signal: Signal
  readonly #logger: Logger
  readonly #feed: AnnouncementFeed
  readonly #end: LiveEnd
  readonly #filler: GapFiller
  readonly #counts = { announcements: 0, stale: 0, gaps: 0, unverified: 0, skips: 0 }
  readonly #onReplaced: (() => void) | undefined
  #identity: LogIdentity
  #checking: Promise<void> | null = null
  #checkedAt = 0
  #tickedAt = 0
  /** It runs only while somebody listens. */
  #timer: NodeJS.Timeout | null = null
  #closed = false

  /** @param head of the log */
  constructor({ pool, signal, logger, numberer, onReplaced }: HubParts, identity: LogIdentity, head: LogCursor) {
    this.#pool = pool
    this.#signal = signal
    this.#logger = logger
    this.#onReplaced = onReplaced
    this.#identity = identity
    this.#end = new LiveEnd(head)
    this.#filler = new GapFiller({
      pool,
      logger,
      end: this.#end,
      isOf: (page) => this.isOf(page),
      onReplaced: () => this.#check(),
      onMissing: async () => this.#skip(await readHead(pool)),
    })
    numberer?.listen((announcement) => this.#onAnnouncement(announcement))
    this.#feed = new AnnouncementFeed(identity, {
      signal,
      logger,
      ownOrigin: numberer?.origin,
      onAnnouncement: (announcement) => this.#onAnnouncement(announcement),
      onUnverified: () => this.#onUnverified(),
      onSubscribed: () => this.#check(),
    })
  }

  get identity(): LogIdentity {
    return this.#identity
  }
  get lineage(): number {
    return this.#end.lineage
  }
  get live(): Omit<LiveBuffer, 'append' | 'restart'> {
    return this.#end.buffer
  }
  get stats(): LogStats {
    const { listeners, known, buffer } = this.#end
    const { epoch } = this.#identity
    const { filled } = this.#filler
    return { ...this.#counts, filled, epoch, listeners, through: buffer.through, known }
  }

  /** From now on the listener is offered every matching change after the end of the buffer. */
  join(query: PhaseChangeQuery, listener: LogListener): void {
    this.#end.add(query, listener)
    if (this.#closed) return
    this.#timer ??= setInterval(() => this.#onTimer(), CHECK_ALONE_MS)
    this.#feed.open()
  }
  leave(listener: LogListener): void {
    this.#end.remove(listener)
  }

  /** True if the database answered from this log. If not, `refresh` before its answer is used. */
  isOf({ instance, epoch }: LogHead): boolean {
    return instance === this.#identity.instance && epoch === this.#identity.epoch
  }

  /** True if `observeHead` is useful: there are no listeners, or the buffer's end has no mark. */
  get needsHead(): boolean {
    return this.#end.listeners === 0 || this.live.end.mark === null
  }

  /** Moves the buffer to the head while there are no listeners, unless the next announcements close the distance anyway. */
  observeHead(head: LogCursor): void {
    const { end } = this.live
    const isNear = this.#feed.isOpen && head.sequence <= end.sequence + PAGE
    if (end.mark === null ? head.sequence < end.sequence : isNear || head.sequence <= end.sequence) return
    if (this.#end.listeners > 0 && head.sequence > end.sequence) return
    this.#end.restart(head)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimer()
    this.#end.removeAll()
    await this.#feed.close()
    await this.#checking?.catch(() => undefined)
    await this.#filler.close()
  }

  #onAnnouncement({ instance, from, through, changes, traces }: Announcement): void {
    this.#counts.announcements += 1
    // The database was replaced or has restarted: the delivered changes must be found in it first.
    if (instance !== this.#identity.instance) return this.#check()
    const delivered = this.live.through
    if (through <= delivered) {
      this.#counts.stale += 1
      return
    }
    this.#end.raiseKnown(through)
    if (this.#end.isIdle) this.#end.restartAtKnown(changes)
    else if (changes && from <= delivered + 1) {
      const heardAt = traces.length > 0 ? Date.now() : 0
      const listeners = this.#end.deliver(changes.slice(delivered + 1 - from))
      traceDelivery(traces, heardAt, listeners)
    } else if (this.#end.listeners === 0) this.#end.restartAtKnown(changes)
    else {
      if (from > delivered + 1) this.#counts.gaps += 1
      this.#filler.fill()
    }
  }

  #onUnverified(): void {
    this.#counts.unverified += 1
    // The message may come from this very database after a restart, so check. Forged messages cause no more checks than the
    // timer.
    if (performance.now() - this.#checkedAt >= CHECK_ALONE_MS) this.#check()
  }

  /** The next changes are pruned, or the log is another one than before. */
  #skip(head: LogCursor): void {
    if (this.#end.listeners > 0) {
      this.#logger.warn(
        { after: this.live.through, head: head.sequence },
        'The log does not continue after the last delivered change; its readers resolve their cursors again.',
      )
    }
    this.#counts.skips += 1
    this.#end.skip(head)
  }

  #onTimer(): void {
    if (this.#end.listeners === 0) return this.#stopTimer()
    const now = performance.now()
    if (now - this.#tickedAt >= CHECK_MS) {
      this.#tickedAt = now
      this.#end.tick()
    }
    if (!this.#signal.connected || now - this.#checkedAt >= CHECK_MS) this.#check()
  }

  #stopTimer(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
  }

  /** Reads the head and the identity of the log. Rejects when the database cannot be reached. */
  refresh(): Promise<void> {
    this.#checking ??= this.#checkNow().finally(() => {
      this.#checking = null
    })
    return this.#checking
  }

  #check(): void {
    this.refresh().catch((error: unknown) => {
      if (!this.#closed) this.#logger.warn({ err: error }, 'The head of the log could not be read; trying again.')
    })
  }

  async #checkNow(): Promise<void> {
    this.#checkedAt = performance.now()
    const delivered = this.live.through
    const head = await readHead(this.#pool)
    if (!this.isOf(head)) await this.#reopen()
    else if (head.sequence < delivered) this.#skip(head)
    else this.#advance(head.sequence)
  }

  #advance(head: number): void {
    if (head <= this.live.through) return
    this.#end.raiseKnown(head)
    this.#filler.fill()
  }

  /** Another server, another database, or the same one restarted: the log continues if it has the delivered changes. */
  async #reopen(): Promise<void> {
    const { end } = this.live
    const { identity, head, isContinued } = await reopenLog(this.#pool, this.live, {
      identity: this.#identity,
      logger: this.#logger,
    })
    // Announcements that came meanwhile are of the previous database; the next check takes the new one in.
    if (this.live.end !== end) throw new Error('The log has moved while it was being opened.')
    this.#adopt(identity)
    if (isContinued) this.#advance(head.sequence)
    else this.#skip(head)
  }

  #adopt(identity: LogIdentity): void {
    const { epoch: before } = this.#identity
    this.#identity = identity
    this.#onReplaced?.()
    if (identity.epoch !== before) {
      const { epoch, epochBase } = identity
      this.#logger.warn(
        { epoch, from: epochBase },
        'The database was restored or failed over: a new epoch of the log begins.',
      )
    }
    this.#feed.setIdentity(identity)
  }
}
