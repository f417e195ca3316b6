/**
 * The database cannot be reached, or does not take this statement for now. Whether the statement was executed is not known:
 * its answer may be what was lost.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** Milliseconds after which a caller may try again. */
export const DATABASE_RETRY_MS = 1_000

/** Libraries wrap errors, each in its own way. */
const DEEPEST = 5

/** Whether this is, or was caused by, a database that is not available. */
export function isDatabaseUnavailable(error: unknown, depth = 0): boolean {
  if (error instanceof DatabaseUnavailable) return true
  if (!(error instanceof Error) || depth === DEEPEST) return false
  const { cause, originalError } = error as Error & { readonly originalError?: unknown }
  return isDatabaseUnavailable(cause ?? originalError, depth + 1)
}
