import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { System } from '../core/ports/system.ts'
import type { Logger } from '../logger.ts'
import { pruneStep } from './prune.ts'

/** Interval of pruning. */
const EVERY_MS = 60_000

export interface PrunerOptions {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
  /** Names of machines whose changes say nothing of an object's phase. */
  readonly secondaryMachines: readonly string[]
  /** Age in milliseconds up to which phase changes are kept. */
  readonly retentionMs: number
}

export interface Pruner extends AsyncDisposable {
  /** Resolves when the log is pruned, or another process prunes it. Rejects when the database cannot be reached. */
  prune(): Promise<void>
}

/** Prunes the log by age: at once, then every minute. Each engine has one; they need no leader. */
export function createPruner({ pool, system, logger, secondaryMachines, retentionMs }: PrunerOptions): Pruner {
  const stop = new AbortController()
  let running: Promise<void> | null = null

  const prune = async (): Promise<void> => {
    const before = new Date(system.now().getTime() - retentionMs)
    while (!stop.signal.aborted) {
      const start = performance.now()
      const step = await pruneStep(pool, { before, secondaryMachines })
      if (step === 'done' || step === 'elsewhere') return
      // At most half of the time, so that a long backlog leaves the database to other work.
      await delay(performance.now() - start, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const run = (): Promise<void> => {
    running ??= prune().finally(() => {
      running = null
    })
    return running
  }
  const prunePeriodically = (): void => {
    run().catch((error: unknown) => {
      if (!stop.signal.aborted) logger.warn({ err: error }, 'Pruning the log failed; it is tried again in a minute.')
    })
  }
  const timer = setInterval(prunePeriodically, EVERY_MS)
  prunePeriodically()

  return {
    prune: run,
    async [Symbol.asyncDispose]() {
      stop.abort()
      clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}
