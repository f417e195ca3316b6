import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../logger.ts'

/** Interval of pruning. */
const EVERY_MS = 60_000

export interface Pruner extends AsyncDisposable {
  /** Resolves when all is pruned, or another process prunes it. Rejects when the database cannot be reached. */
  prune(): Promise<void>
}

interface Pruning {
  /** One short transaction; false: nothing is left to prune, or another process prunes. */
  readonly step: () => Promise<boolean>
  readonly logger: Logger
  /** In a warning, such as `Pruning the log`. */
  readonly what: string
}

/** Prunes at once, then every minute. Each engine does; they need no leader. */
export function prunePeriodically({ step, logger, what }: Pruning): Pruner {
  const stop = new AbortController()
  let running: Promise<void> | null = null

  const prune = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const start = performance.now()
      if (!(await step())) return
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
  const runInBackground = (): void => {
    run().catch((error: unknown) => {
      if (!stop.signal.aborted) logger.warn({ err: error }, `${what} failed; it is tried again in a minute.`)
    })
  }
  const timer = setInterval(runInBackground, EVERY_MS)
  runInBackground()

  return {
    prune: run,
    async [Symbol.asyncDispose]() {
      stop.abort()
      clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}
