import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { type BackoffOptions, backoffMs } from '../core/backoff.ts'
import { DATABASE_RETRY_MS, isDatabaseUnavailable } from '../core/database-unavailable.ts'
import type { EngineFacts } from '../core/health.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { System } from '../core/ports/system.ts'
import type { ObjectKind } from '../core/vocabulary.ts'
import { listen } from '../log/signal/listen.ts'
import type { Logger } from '../logger.ts'
import { delayRoot, dueRoots, untilNextClock } from '../store/queue.ts'
import { type SweepOptions, sweep } from '../store/sweep.ts'
import { SEARCH_WATCHED_MS, type Writes } from '../store/write-watch.ts'
import type { TreeCounts } from './engine-counts.ts'
import { EngineTurns, TURN_MS } from './engine-turns.ts'
import type { TreeRunner } from './runner.ts'

/** Trees reconciled at a time. More than the pool has connections would only queue. */
const CONCURRENCY = 8
/** Due trees that are looked at, the oldest ones: more than several engines reconcile at a time. */
const LOOKED_AT = CONCURRENCY * 8
/** Due trees that a search has found are taken for so long without another search, in milliseconds. */
const FOUND_MS = 50
/** Batches of roots without children at a time, by the keys under which they are active. */
const LONE = ['lone 1', 'lone 2']
/** Interval at which the engine polls, in case it misses a notification, in milliseconds. */
const POLL_MS = 250
/** The same while a clock has run out, in milliseconds. */
const OVERDUE_MS = 10
/** Interval at which expired rows are deleted, in milliseconds. */
const SWEEP_MS = 60_000
/** Interval of the search for objects that wait without a reason, in milliseconds; and while nothing is written. */
const RECOVER_MS = 5_000
const RECOVER_UNWRITTEN_MS = 60_000
/** Trees that had to wait at the last attempt and are reconciled at a time. */
const POSTPONED_AT_ONCE = 4
/** Pauses after a tree that another transaction has locked, usually for milliseconds. */
const LOCKED = { baseMs: 10, factor: 2, capMs: 500 }
/** The same after a tree whose turn another engine has: most likely that one reconciles it. */
const TAKEN = { ...LOCKED, baseMs: TURN_MS }
/** Pauses of a tree whose expressions wait for those of its project that take long. */
const WAITING = { baseMs: 2_000, factor: 2, capMs: 60_000 }
export const WAKE_CHANNEL = 'phaseline:wake'

export interface EngineOptions {
  readonly pool: Pool
  readonly runner: TreeRunner
  readonly signal: Signal
  readonly system: System
  /** Kinds of roots without children. */
  readonly loneKinds: readonly ObjectKind[]
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
  readonly #turns: EngineTurns
  readonly #active = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, number>()
  /** Trees that had to wait at the last attempts; they take no place among the active ones until then. */
  readonly #postponed = new Map<string, { readonly times: number; readonly until: number }>()
  /** Trees finished since the search for due trees began. */
  readonly #ended = new Set<string>()
  /** Due trees that the last search has found, without those that were begun. */
  #found: readonly string[] = []
  #foundAt = Number.NEGATIVE_INFINITY
  /** By the monotonic clock. */
  #noLoneUntil = Number.NEGATIVE_INFINITY
  #hasLoneFailed = false
  #isNotified = true
  /** Something was written since the last search for objects that wait without a reason; always, if that is not watched. */
  #isWritten = true
  readonly #stop = new AbortController()
  #wait: { wake: () => void } | null = null
  #loop: Promise<void> | null = null
  #subscription: { close(): Promise<void> } | null = null
  #later: NodeJS.Timeout | null = null
  #sweptAt = Number.NEGATIVE_INFINITY
  #recoveredAt = Number.NEGATIVE_INFINITY
  #lookedAt = performance.now()
  #workedAt = performance.now()

  constructor(options: EngineOptions) {
    this.#options = options
    this.#turns = new EngineTurns({ ...options, id: options.system.id() })
  }

  start(): void {
    const { signal, logger, writes } = this.#options
    writes?.onWrite(() => {
      this.#isWritten = true
      this.notify()
    })
    this.#subscription = listen(signal, WAKE_CHANNEL, (message) => this.#heard(message), logger)
    this.#loop = this.#run()
  }

  /** Makes the engine search for due trees at once. */
  notify(): void {
    this.#isNotified = true
    this.#wait?.wake()
  }

  /** This process has woken these trees: they are searched at once. @returns the message for other engines */
  woke(rootIds: readonly string[]): string {
    this.notify()
    return this.#turns.woke(rootIds)
  }

  #heard(message: string): void {
    const when = this.#turns.heard(message)
    if (when === 'at once') this.notify()
    else if (when === 'later') this.#notifyLater()
  }

  /** Searches once the engines whose turn it is have had it. */
  #notifyLater(): void {
    this.#later ??= setTimeout(() => {
      this.#later = null
      this.notify()
    }, TURN_MS)
  }

  get facts(): EngineFacts {
    const now = performance.now()
    return { lookedAgoMs: now - this.#lookedAt, workedAgoMs: now - this.#workedAt }
  }

  /** Starts no further reconcile and finishes the active ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#wait?.wake()
    clearTimeout(this.#later ?? undefined)
    await this.#turns[Symbol.asyncDispose]()
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
        this.#isWritten = true
        await this.#sleep(1_000)
      }
    }
  }

  async #takeDue(): Promise<void> {
    this.#isNotified = false
    const { pool, system, loneKinds } = this.#options
    if (performance.now() - this.#foundAt < FOUND_MS) this.#beginFound()
    if (this.#active.size >= CONCURRENCY) return
    this.#ended.clear()
    // Trees that are busy now must not hide the others.
    const limit = LOOKED_AT * (1 + this.#turns.others) + this.#postponed.size
    const { rootIds: due, hasLone } = await dueRoots(pool, { time: system.fixedTime, limit, loneKinds })
    if (hasLone) this.#takeLone()
    const isIdle = (rootId: string) => !(this.#active.has(rootId) || this.#ended.has(rootId))
    const fresh = due.filter((rootId) => isIdle(rootId) && !this.#postponed.has(rootId))
    const turns = this.#turns.take(fresh)
    if (this.#turns.leavesSome) this.#notifyLater()
    // Engines that take them in the same order would find most of them locked by each other.
    const order = shuffled(turns, () => system.random())
    this.#found = [...this.#takePostponed(due).filter(isIdle), ...order]
    this.#foundAt = performance.now()
    this.#beginFound()
  }

  /** Begins found trees while there is room. */
  #beginFound(): void {
    while (this.#found.length > 0 && this.#active.size < CONCURRENCY && !this.#stop.signal.aborted) {
      const [rootId = '', ...rest] = this.#found
      this.#found = rest
      // One that has ended since the search began may be due again, or not: the next search shows it.
      if (this.#active.has(rootId) || this.#ended.has(rootId)) continue
      this.#begin(rootId, this.#reconcile(rootId))
    }
  }

  #begin(key: string, running: Promise<void>): void {
    const ended = running.finally(() => {
      this.#active.delete(key)
      this.#ended.add(key)
      this.#workedAt = performance.now()
      this.notify()
    })
    this.#active.set(key, ended)
  }

  /** Begins another batch of roots without children, unless all of them were locked a moment ago. */
  #takeLone(): void {
    if (performance.now() < this.#noLoneUntil) return
    const free = LONE.find((key) => !this.#active.has(key))
    if (free && !this.#stop.signal.aborted) this.#begin(free, this.#decideLone())
  }

  async #decideLone(): Promise<void> {
    const { runner, counts } = this.#options
    let locked: readonly string[] = []
    try {
      await runner.decideLone((rootIds) => {
        locked = rootIds
      })
      this.#hasLoneFailed = false
      for (const _ of locked) counts.reconciles.add({ outcome: 'done' })
      if (locked.length > 0) return
      this.#noLoneUntil = performance.now() + LOCKED.baseMs
      setTimeout(() => this.notify(), LOCKED.baseMs).unref()
    } catch (error) {
      // As for a tree: from the second failure in a row it may be a root that breaks the connection.
      const isFirst = !this.#hasLoneFailed
      this.#hasLoneFailed = true
      if (locked.length === 0 || (isFirst && isDatabaseUnavailable(error))) return await this.#untilRetry()
      this.#options.logger.error({ err: error }, 'roots could not be decided together: each is decided alone')
      for (const rootId of locked) await this.#reconcile(rootId)
    }
  }

  /** Trees that had to wait and whose pause is over, the longest first; few, so that others always find a place. */
  #takePostponed(due: readonly string[]): readonly string[] {
    const now = performance.now()
    // A project with slow expressions may have thousands of such trees.
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
      if (outcome === 'locked') this.#postpone(rootId, this.#turns.isOurs(rootId) ? LOCKED : TAKEN)
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
  #postpone(rootId: string, pauses: Partial<BackoffOptions>): void {
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
    // The logger omits errors of an outage, and the database has just answered: so only the reason is logged.
    const why = isDatabaseUnavailable(error) ? { reason: reasonOf(error) } : { err: error }
    logger.error(
      { ...why, rootId, failures, retryAt: at },
      'a tree could not be reconciled, the engine retries it later',
    )
  }

  async #sweep(): Promise<void> {
    const { pool, system, recoverStalled, sweeping, writes } = this.#options
    const now = performance.now()
    if (now - this.#recoveredAt >= (this.#isWritten ? RECOVER_MS : RECOVER_UNWRITTEN_MS)) {
      this.#recoveredAt = now
      this.#isWritten = !writes
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
    const recoverMs = this.#recoveredAt + RECOVER_MS - performance.now()
    const watchedMs = this.#isWritten ? Math.min(SEARCH_WATCHED_MS, recoverMs) : SEARCH_WATCHED_MS
    const pollMs = writes ? Math.max(POLL_MS, Math.ceil(watchedMs)) : POLL_MS
    const untilClock = (await untilNextClock(pool, system.fixedTime)) ?? pollMs
    // A notification that came during the query above found no sleep to end.
    if (this.#isNotified && this.#active.size < CONCURRENCY) return
    // An expired clock belongs to a tree that is active, delayed, or left to another engine; the end of that wakes this one.
    const leastMs = untilClock > 0 ? 1 : this.#turns.leavesSome ? TURN_MS : OVERDUE_MS
    await this.#sleep(Math.max(leastMs, Math.min(pollMs, Math.ceil(untilClock))))
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

function shuffled<T>(list: readonly T[], random: () => number): readonly T[] {
  const all = [...list]
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[all[i], all[j]] = [all[j] as T, all[i] as T]
  }
  return all
}
