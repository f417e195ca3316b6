import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { backoffMs } from '../core/backoff.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { System } from '../core/ports/system.ts'
import type { Logger } from '../logger.ts'
import { delayRoot, dueRoots, untilNextClock } from '../store/queue.ts'
import { sweep } from '../store/sweep.ts'
import { listen } from './listen.ts'
import type { TreeRunner } from './runner.ts'

/** Trees in hand at once: more than connections only makes them queue. */
const CONCURRENCY = 8
/** How long it relies on hearing of new work before it looks for itself, in milliseconds. */
const POLL_MS = 250
/** Leftovers are removed so often, in milliseconds. */
const SWEEP_MS = 60_000
/** What waits without need is looked for so often, in milliseconds. */
const RECOVER_MS = 5_000
const LOCKED_MS = 10
export const WAKE_CHANNEL = 'phaseline:wake'

export interface EngineOptions {
  readonly pool: Pool
  readonly runner: TreeRunner
  readonly signal: Signal
  readonly system: System
  readonly logger: Logger
  /** Leaves word for whatever waits without need. */
  recoverStalled(): Promise<void>
}

/** Drives whatever tree is due. Any number of engines may run side by side: a tree's root row is its lock. */
export class Engine implements AsyncDisposable {
  readonly #options: EngineOptions
  readonly #active = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, number>()
  #heard = true
  #stopped = false
  #wait: { wake: () => void } | null = null
  #loop: Promise<void> | null = null
  #subscription: { close(): Promise<void> } | null = null
  #sweptAt = Number.NEGATIVE_INFINITY
  #tendedAt = Number.NEGATIVE_INFINITY

  constructor(options: EngineOptions) {
    this.#options = options
  }

  start(): void {
    const { signal, logger } = this.#options
    this.#subscription = listen(signal, WAKE_CHANNEL, () => this.hear(), logger)
    this.#loop = this.#run()
  }

  /** Something may be due. */
  hear(): void {
    this.#heard = true
    this.#wait?.wake()
  }

  /** Takes on nothing more, finishes what is in hand. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    this.#wait?.wake()
    await this.#loop
    await Promise.all(this.#active.values())
    await this.#subscription?.close()
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#takeDue()
        await this.#sweep()
        await this.#pause()
      } catch (error) {
        this.#options.logger.error({ err: error }, 'the engine could not look for due trees')
        await this.#sleep(1_000)
      }
    }
  }

  async #takeDue(): Promise<void> {
    this.#heard = false
    const { pool, system } = this.#options
    if (this.#active.size >= CONCURRENCY) return
    const due = await dueRoots(pool, system.fixedTime, CONCURRENCY * 4)
    for (const rootId of due) {
      if (this.#stopped || this.#active.size >= CONCURRENCY) return
      if (this.#active.has(rootId)) continue
      const looking = this.#look(rootId).finally(() => {
        this.#active.delete(rootId)
        this.hear()
      })
      this.#active.set(rootId, looking)
    }
  }

  async #look(rootId: string): Promise<void> {
    try {
      const looked = await this.#options.runner.look(rootId, true)
      // Another engine is at it, for milliseconds: asking again at once would only disturb it.
      if (looked === 'locked') await delay(LOCKED_MS)
      this.#failures.delete(rootId)
    } catch (error) {
      await this.#delay(rootId, error)
    }
  }

  /** A tree whose decision throws is left alone for a while; it never stops the others. */
  async #delay(rootId: string, error: unknown): Promise<void> {
    const { pool, system, logger } = this.#options
    const failures = (this.#failures.get(rootId) ?? 0) + 1
    this.#failures.set(rootId, failures)
    const at = new Date(system.now().getTime() + backoffMs(failures, system.random()))
    logger.error({ err: error, rootId, failures, retryAt: at }, 'a tree could not go on and is tried again later')
    await delayRoot(pool, rootId, at, failures).catch((cause) =>
      logger.error({ err: cause, rootId }, 'could not note a backoff'),
    )
  }

  async #sweep(): Promise<void> {
    const { pool, system, recoverStalled } = this.#options
    const now = performance.now()
    if (now - this.#tendedAt >= RECOVER_MS) {
      this.#tendedAt = now
      await recoverStalled()
    }
    if (now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    await sweep(pool, system.now())
  }

  /** Until something is heard, a clock runs out, or it is time to look anyway. */
  async #pause(): Promise<void> {
    if (this.#heard && this.#active.size < CONCURRENCY) return
    const { pool, system } = this.#options
    const untilClock = (await untilNextClock(pool, system.fixedTime)) ?? POLL_MS
    await this.#sleep(Math.max(1, Math.min(POLL_MS, Math.ceil(untilClock))))
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#stopped) return
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
