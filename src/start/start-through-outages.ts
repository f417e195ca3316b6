import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseDeadlines } from '../core/database-deadlines.ts'
import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import type { Logger } from '../logger.ts'

const RETRY_MS = 250

interface Starting {
  readonly deadlines: Pick<DatabaseDeadlines, 'startTimeoutMs'>
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Starts again when the start has lost its database, for as long as a start may wait for one. A failed start has ended
 * everything it began.
 */
export async function startThroughOutages<T>(
  start: () => Promise<T>,
  { deadlines: { startTimeoutMs }, logger, signal }: Starting,
): Promise<T> {
  const since = performance.now()
  for (;;) {
    try {
      return await start()
    } catch (error) {
      const forMs = Math.round(performance.now() - since)
      if (signal.aborted || forMs >= startTimeoutMs || !isDatabaseUnavailable(error)) throw error
      const { message: reason } = error as Error
      logger.warn({ reason, forMs }, 'the start has lost its database, and begins again')
      await delay(RETRY_MS, undefined, { signal })
    }
  }
}
