import { ClientError } from '../client/index.ts'

/** The sequences that the log holds now. */
export interface LogRange {
  readonly oldest: number
  readonly head: number
}

/** What the log holds, when the error says that a place in it is not there: pruned, or of another log; otherwise null. */
export function cursorExpired(error: unknown): LogRange | null {
  if (!(error instanceof ClientError && error.code === 'CURSOR_EXPIRED')) return null
  const { oldest, head } = error.extensions
  return typeof oldest === 'number' && typeof head === 'number' ? { oldest, head } : null
}
