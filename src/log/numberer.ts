import type { Pool } from 'pg'
import type { WrittenBatch } from '../core/ports/phase-change.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { Logger } from '../logger.ts'
import { every } from '../process/every.ts'
import { SEARCH_WATCHED_MS, type Writes } from '../store/write-watch.ts'
import type { Announcement } from './announcement.ts'
import { Announcer } from './announcer.ts'
import { isAnythingWaiting, numberBatches } from './number-batches.ts'

/** Bounds the latency after a crash between a commit and its numbering. */
const SWEEP_MS = 250
/** The same after a failure where each write is noticed, and causes a sweep by itself. */
const RETRY_WATCHED_MS = 2_000

export interface Numberer extends AsyncDisposable {
  /** Marks its messages, so that this process recognises its own. */
  readonly origin: string
  /** Names the database that is written to from now on; called before the first write. */
  opened(instance: string): void
  /** Takes batches that are about to be committed: they may be numbered before `committed` is called. Cheap, never throws. */
  appended(batches: readonly WrittenBatch[]): void
  /** Numbers committed batches. Cheap, never throws; called during a pass it causes another one. */
  committed(batches?: readonly WrittenBatch[]): void
  /** Calls back with each announcement, without the detour over a signal. The handler is synchronous and must not throw. */
  listen(handler: (announcement: Announcement) => void): void
  /** Resolves when every batch committed before the call is numbered. Rejects when the database cannot be reached. */
  numberAll(): Promise<void>
}

export interface NumbererOptions {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
  readonly writes?: Pick<Writes, 'onWrite'>
}

/** Numbers committed batches and announces them. Each process that writes has one; they need no leader. */
export function createNumberer({ pool, signal, logger, writes }: NumbererOptions): Numberer {
  const announcer = new Announcer(pool, signal)
  let dirty = false
  let passes: Promise<void> | null = null
  let announcing = Promise.resolve()
  let closed = false

  const pass = async (): Promise<void> => {
    try {
      while (dirty) {
        // Reset before the numbering, so that a commit during it causes another pass.
        dirty = false
        const numbered = await numberBatches(pool)
        if (!numbered) continue
        if (numbered.full) dirty = true
        // Not awaited: the next pass need not wait for it, and a lost announcement costs a reader only a second.
        announcing = announcing
          .then(() => announcer.announce(numbered))
          .catch((error: unknown) => logger.debug({ err: error }, 'An announcement was lost.'))
      }
    } finally {
      // Reset in the same turn as the last check of `dirty`: a commit in between would wait for the sweep.
      passes = null
    }
  }
  const start = (): Promise<void> => {
    dirty = true
    passes ??= pass()
    return passes
  }
  const failed = (error: unknown): void => {
    sweeper.retry()
    if (!closed) logger.warn({ err: error }, 'Numbering the log failed; the next sweep tries again.')
  }
  const sweep = async (): Promise<void> => {
    // A pass that runs may have begun before the write.
    if (passes || (await isAnythingWaiting(pool))) await start()
  }
  const sweeper = new Sweeper(sweep, failed, writes)

  return {
    origin: announcer.origin,
    listen: (handler) => announcer.listen(handler),
    opened: (instance) => announcer.opened(instance),
    appended: (batches) => announcer.remember(batches),
    committed(batches = []) {
      announcer.remember(batches)
      if (passes) dirty = true
      else if (!closed) start().catch(failed)
    },
    numberAll: start,
    async [Symbol.asyncDispose]() {
      closed = true
      await sweeper[Symbol.asyncDispose]()
      await passes?.catch(() => undefined)
      await announcing
    },
  }
}

/** Sweeps after each write that is noticed, and now and then. */
class Sweeper implements AsyncDisposable {
  readonly #sweep: () => Promise<void>
  readonly #failed: (error: unknown) => void
  readonly #stop: () => void
  #running: Promise<void> | null = null
  /** A write that is noticed during a sweep may have come too late for it. */
  #isDue = false
  #isFailed = false
  #sweptAt = performance.now()
  #closed = false

  constructor(sweep: () => Promise<void>, failed: (error: unknown) => void, writes: NumbererOptions['writes']) {
    this.#sweep = sweep
    this.#failed = failed
    writes?.onWrite(() => this.#sweepInBackground())
    const sweepMs = writes ? SEARCH_WATCHED_MS : SWEEP_MS
    this.#stop = every(writes ? RETRY_WATCHED_MS : SWEEP_MS, () => this.#sweepAfter(sweepMs))
  }

  /** Numbering has failed: it is tried again soon. */
  retry(): void {
    this.#isFailed = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#stop()
    await this.#running
  }

  #sweepAfter(ms: number): void {
    const now = performance.now()
    // A timer may be early by a millisecond.
    if (!this.#isFailed && now - this.#sweptAt < ms - 1) return
    this.#sweptAt = now
    this.#isFailed = false
    this.#sweepInBackground()
  }

  #sweepInBackground(): void {
    if (this.#closed) return
    this.#isDue = true
    this.#running ??= this.#sweepAll()
      .catch(this.#failed)
      .finally(() => {
        this.#running = null
      })
  }

  async #sweepAll(): Promise<void> {
    while (this.#isDue && !this.#closed) {
      this.#isDue = false
      await this.#sweep()
    }
  }
}
