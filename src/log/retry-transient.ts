import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { CursorExpired } from '../core/ports/log.ts'
import type { Logger } from '../logger.ts'
import { PoolEnded } from '../store/bounded-pool.ts'

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

/** Broken connections, and servers that restart or are full: repeating the statement may succeed. */
function isTransient(error: unknown): boolean {
  if (error instanceof CursorExpired || error instanceof PoolEnded) return false
  if (error instanceof DatabaseError) return /^(08|40|53|55|57|58)/.test(error.code ?? '')
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)
}
