import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseDeadlines } from '../core/database-deadlines.ts'
import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import type { Logger } from '../logger.ts'
import type { Reachability } from '../store/reachability.ts'
import { StartProblem } from './start-problem.ts'

/** Interval of the attempts, and of their log lines, in milliseconds. */
const RETRY_MS = 250
const TELL_MS = 5_000

interface Waiting {
  readonly deadlines: Pick<DatabaseDeadlines, 'startTimeoutMs'>
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Resolves once the database answers: it may be starting, or its name may not be known yet.
 * @throws StartProblem when it takes too long, the reason of the signal, or another error of the database, such as a wrong password
 */
export async function waitForDatabase(
  reachability: Pick<Reachability, 'check'>,
  { deadlines: { startTimeoutMs }, logger, signal }: Waiting,
): Promise<void> {
  const since = performance.now()
  let tellAt = since
  for (;;) {
    const failed = await reachability.check(signal).then(
      () => null,
      (error: unknown) => error as Error,
    )
    signal.throwIfAborted()
    if (!failed) return
    if (!isDatabaseUnavailable(failed)) throw failed
    const { message: reason } = failed
    const forMs = Math.round(performance.now() - since)
    if (forMs >= startTimeoutMs) throw unreachable(reason, startTimeoutMs)
    if (performance.now() >= tellAt) {
      tellAt = performance.now() + TELL_MS
      logger.warn({ reason, forMs }, 'the start waits for the database, which cannot be reached yet')
    }
    await delay(RETRY_MS, undefined, { signal })
  }
}

const unreachable = (reason: string, ms: number): StartProblem =>
  new StartProblem(
    `The database was not reachable within ${ms / 1_000} s: ${reason}. Start it, or correct DATABASE_URL; PHASELINE_DATABASE_START_TIMEOUT_MS is how long the server waits.`,
    { isTemporary: true },
  )
