import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { type BackoffOptions, backoffMs } from '../core/backoff.ts'
import { DATABASE_RETRY_MS, isDatabaseUnavailable } from '../core/database-unavailable.ts'
import type { EngineFacts } from '../core/health.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { System } from '../core/ports/system.ts'
import { listen } from '../log/signal/listen.ts'
import type { Logger } from '../logger.ts'
import { delayRoot, dueRoots, untilNextClock } from '../store/queue.ts'
import { type SweepOptions, sweep } from '../store/sweep.ts'
import type { Writes } from '../store/write-watch.ts'
import type { TreeCounts } from './engine-counts.ts'
import type { TreeRunner } from './runner.ts'

/** Trees reconciled at a time. More than the pool has connections would only queue. */
const CONCURRENCY = 8
/** Interval at which the engine polls, in case it misses a notification, in milliseconds. */
const POLL_MS = 250
/** The same where each write is noticed, and makes the engine search by itself. */
const POLL_WATCHED_MS = 2_000
/** The same while a clock has run out, in milliseconds. */
const OVERDUE_MS = 10
/** Interval at which expired rows are deleted, in milliseconds. */
const SWEEP_MS = 60_000
/** Interval of the search for objects that wait without a reason, in milliseconds. */
const RECOVER_MS = 5_000
/** Trees that had to wait at the last attempt and are reconciled at a time. */
const POSTPONED_AT_ONCE = 4
/** Pauses after a tree that another transaction has locked, usually for milliseconds. */
const LOCKED = { baseMs: 10, factor: 2, capMs: 500 }
/** Pauses of a tree whose expressions wait for those of its project that take long. */
const WAITING = { baseMs: 2_000, factor: 2, capMs: 60_000 }
export const WAKE_CHANNEL = 'phaseline:wake'

export interface EngineOptions {
  readonly pool: Pool
  readonly runner: TreeRunner
  readonly signal: Signal
  readonly system: System
  readonly logger: Logger
  /** Enqueues wake requests for objects that wait without a reason. */
  recoverStalled(): Promise<void>
  readonly sweeping: SweepOptions
  readonly counts: TreeCounts
  readonly writes?: Writes | undefined
}

/** Reconciles every tree that is due. Any number of engines may run side by side: a tree's root row is its lock. */
export class Engine implements AsyncDisposable {
  readonly #options: EngineOptions
  readonly #active = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, number>()
  /** Trees that had to wait at the last attempts; they take no place among the active ones until then. */
  readonly #postponed = new Map<string, { readonly times: number; readonly until: number }>()
  /** Trees finished since the search for due trees began. */
  readonly #ended = new Set<string>()
  #isNotified = true
  readonly #stop = new AbortController()
  #wait: { wake: () => void } | null = null
  #loop: Promise<void> | null = null
  #subscription: { close(): Promise<void> } | null = null
  #sweptAt = Number.NEGATIVE_INFINITY
  #recoveredAt = Number.NEGATIVE_INFINITY
  #lookedAt = performance.now()
  #workedAt = performance.now()

  constructor(options: EngineOptions) {
    this.#options = options
  }

  start(): void {
    const { signal, logger, writes } = this.#options
    writes?.onWrite(() => this.notify())
    this.#subscription = listen(signal, WAKE_CHANNEL, () => this.notify(), logger)
    this.#loop = this.#run()
  }

  /** Makes the engine search for due trees at once. */
  notify(): void {
    this.#isNotified = true
    this.#wait?.wake()
  }

  get facts(): EngineFacts {
    const now = performance.now()
    return { lookedAgoMs: now - this.#lookedAt, workedAgoMs: now - this.#workedAt }
  }

  /** Starts no further reconcile and finishes the active ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#wait?.wake()
    await this.#loop
    await Promise.all(this.#active.values())
    await this.#subscription?.close()
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#takeDue()
        await this.#sweep()
        this.#lookedAt = performance.now()
        await this.#pause()
      } catch (error) {
        this.#options.logger.error({ err: error }, 'the engine could not search for due trees')
        await this.#sleep(1_000)
      }
    }
  }

  async #takeDue(): Promise<void> {
    this.#isNotified = false
    const { pool, system } = this.#options
    if (this.#active.size >= CONCURRENCY) return
    this.#ended.clear()
    // Trees that are busy now must not hide the others.
    const due = await dueRoots(pool, system.fixedTime, CONCURRENCY * 4 + this.#postponed.size)
    const isIdle = (rootId: string) => !(this.#active.has(rootId) || this.#ended.has(rootId))
    // The answer may be older than the end of one; the next look shows whether it is due again, or delayed.
    const fresh = due.filter((rootId) => isIdle(rootId) && !this.#postponed.has(rootId))
    for (const rootId of [...this.#takePostponed(due).filter(isIdle), ...fresh]) {
      if (this.#stop.signal.aborted || this.#active.size >= CONCURRENCY) return
      const reconciling = this.#reconcile(rootId).finally(() => {
        this.#active.delete(rootId)
        this.#ended.add(rootId)
        this.#workedAt = performance.now()
        this.notify()
      })
      this.#active.set(rootId, reconciling)
    }
  }

  /** Trees that had to wait and whose pause is over, the longest first; few, so that others always find a place. */
  #takePostponed(due: readonly string[]): readonly string[] {
    const now = performance.now()
    // A project of slow expressions may have thousands.
    const isDue = new Set(due)
    for (const [rootId, { until }] of this.#postponed)
      if (until <= now && !isDue.has(rootId)) this.#postponed.delete(rootId)
    const active = new Set([...this.#active.keys()].filter((rootId) => this.#postponed.has(rootId)))
    return [...this.#postponed]
      .filter(([rootId, { until }]) => until <= now && !active.has(rootId))
      .sort(([, a], [, b]) => a.until - b.until)
      .slice(0, Math.max(0, POSTPONED_AT_ONCE - active.size))
      .map(([rootId]) => rootId)
  }

  async #reconcile(rootId: string): Promise<void> {
    const { runner, counts } = this.#options
    try {
      const outcome = await runner.reconcile(rootId, true)
      counts.reconciles.add({ outcome })
      this.#failures.delete(rootId)
      if (outcome === 'locked') this.#postpone(rootId, LOCKED)
      else if (outcome === 'waiting') this.#postpone(rootId, WAITING)
      else this.#postponed.delete(rootId)
    } catch (error) {
      counts.reconciles.add({ outcome: 'failed' })
      // Usually nothing is wrong with the tree, and it stays due. It is found in the database each time, so from the second
      // failure in a row it may be the tree that breaks its connection.
      const isFirst = (this.#failures.get(rootId) ?? 0) === 0
      if (isFirst && isDatabaseUnavailable(error)) {
        this.#failures.set(rootId, 1)
        await this.#untilRetry()
      } else await this.#delay(rootId, error)
    }
  }

  /** Retrying at once would only compete with what it waits for. */
  #postpone(rootId: string, pauses: BackoffOptions): void {
    const times = (this.#postponed.get(rootId)?.times ?? 0) + 1
    const pauseMs = backoffMs(times, this.#options.system.random(), pauses)
    this.#postponed.set(rootId, { times, until: performance.now() + pauseMs })
    setTimeout(() => this.notify(), pauseMs).unref()
  }

  async #untilRetry(): Promise<void> {
    await delay(DATABASE_RETRY_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined)
  }

  /** Retries a tree that fails later, so that it does not delay the others. */
  async #delay(rootId: string, error: unknown): Promise<void> {
    const { pool, system, logger } = this.#options
    const failures = (this.#failures.get(rootId) ?? 0) + 1
    this.#failures.set(rootId, failures)
    const at = new Date(system.now().getTime() + backoffMs(failures, system.random()))
    try {
      await delayRoot(pool, rootId, at, failures)
    } catch (cause) {
      logger.error({ err: cause, rootId }, 'could not store the backoff of a tree')
      // The database is away, so it was not the tree.
      if (isDatabaseUnavailable(cause)) this.#failures.set(rootId, 1)
      return await this.#untilRetry()
    }
    // The logger leaves out what fails because the database is away, which it is not.
    const why = isDatabaseUnavailable(error) ? { reason: reasonOf(error) } : { err: error }
    logger.error(
      { ...why, rootId, failures, retryAt: at },
      'a tree could not be reconciled, the engine retries it later',
    )
  }

  async #sweep(): Promise<void> {
    const { pool, system, recoverStalled, sweeping } = this.#options
    const now = performance.now()
    if (now - this.#recoveredAt >= RECOVER_MS) {
      this.#recoveredAt = now
      await recoverStalled()
    }
    if (now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    await sweep(pool, system.now(), sweeping)
  }

  /** Waits for a notification, for the next clock, or for the next poll. */
  async #pause(): Promise<void> {
    if (this.#isNotified && this.#active.size < CONCURRENCY) return
    const { pool, system, writes } = this.#options
    const pollMs = writes ? POLL_WATCHED_MS : POLL_MS
    const untilClock = (await untilNextClock(pool, system.fixedTime)) ?? pollMs
    // A notification that came during the query above found no sleep to end.
    if (this.#isNotified && this.#active.size < CONCURRENCY) return
    // A clock that has run out is of a tree that is active or has to wait: its end wakes the engine.
    await this.#sleep(Math.max(untilClock > 0 ? 1 : OVERDUE_MS, Math.min(pollMs, Math.ceil(untilClock))))
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#stop.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wait = {
        wake: () => {
          clearTimeout(timer)
          resolve()
        },
      }
    })
    this.#wait = null
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
