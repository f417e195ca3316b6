import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { CursorExpired } from '../core/ports/log.ts'
import type { Logger } from '../logger.ts'

/** A longer outage of the database ends the stream; its reader resumes with its cursor. */
const PATIENCE_MS = 30_000
const RETRY_MS = 250

/** Reads for an open stream, which survives a restart or failover of the database. */
export async function retryTransient<T>(read: () => Promise<T>, logger: Logger): Promise<T> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (performance.now() > end || !isTransient(error)) throw error
      logger.warn({ err: error }, 'A reader of a stream lost the database; trying again.')
      await delay(RETRY_MS)
    }
  }
}

/** The driver's words. */
const POOL_ENDED = 'Cannot use a pool after calling end on the pool'

/** Broken connections, and servers that restart or are full: repeating the statement may succeed. */
function isTransient(error: unknown): boolean {
  if (error instanceof CursorExpired) return false
  // The process ends.
  if (error instanceof Error && error.message === POOL_ENDED) return false
  if (error instanceof DatabaseError) return /^(08|40|53|55|57|58)/.test(error.code ?? '')
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)
}
