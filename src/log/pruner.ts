import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { System } from '../core/ports/system.ts'
import type { Logger } from '../logger.ts'
import { pruneStep } from './prune.ts'

/** How often it looks for changes that have grown too old. */
const EVERY_MS = 60_000

export interface PrunerOptions {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
  /** How long a phase change is kept. */
  readonly retentionMs: number
}

export interface Pruner extends AsyncDisposable {
  /** Ends when nothing is left to prune, or when another process is at it. Rejects when the database cannot be reached. */
  prune(): Promise<void>
}

/** Prunes the log by age: at once, then every minute. Each engine has one; they need no leader. */
export function createPruner({ pool, system, logger, retentionMs }: PrunerOptions): Pruner {
  const stop = new AbortController()
  let running: Promise<void> | null = null

  const prune = async (): Promise<void> => {
    const before = new Date(system.now().getTime() - retentionMs)
    while (!stop.signal.aborted) {
      const start = performance.now()
      const step = await pruneStep(pool, before)
      if (step === 'done' || step === 'elsewhere') return
      // Half of the time at most, so that a long backlog leaves the database to those who wait for it.
      await delay(performance.now() - start, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const run = (): Promise<void> => {
    running ??= prune().finally(() => {
      running = null
    })
    return running
  }
  const tend = (): void => {
    run().catch((error: unknown) => {
      if (!stop.signal.aborted) logger.warn({ err: error }, 'Pruning the log failed; it is tried again in a minute.')
    })
  }
  const timer = setInterval(tend, EVERY_MS)
  tend()

  return {
    prune: run,
    async [Symbol.asyncDispose]() {
      stop.abort()
      clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}
