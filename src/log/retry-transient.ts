import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { CursorExpired } from '../core/ports/log.ts'
import type { Logger } from '../logger.ts'

/** A database that is away for longer ends the stream; its reader comes back with its cursor. */
const PATIENCE_MS = 30_000
const RETRY_MS = 250

/** Reads for a stream that is open, which outlasts a database that restarts or fails over. */
export async function retryTransient<T>(read: () => Promise<T>, logger: Logger): Promise<T> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (performance.now() > end || !isPassing(error)) throw error
      logger.warn({ err: error }, 'A reader of the log lost the database; trying again.')
      await delay(RETRY_MS)
    }
  }
}

/** Connections that broke, servers that restart or are full: not the statement's fault. */
function isPassing(error: unknown): boolean {
  if (error instanceof CursorExpired) return false
  if (error instanceof DatabaseError) return /^(08|40|53|55|57|58)/.test(error.code ?? '')
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)
}
