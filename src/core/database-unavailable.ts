/**
 * The database cannot be reached, or does not take this statement for now. Whether the statement was executed is not known:
 * its answer may be what was lost.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** The database answers, and fails for want of something that may be there later, such as space on its disk. */
export class DatabaseShortage extends DatabaseUnavailable {
  /** One of SHORTAGES. It names no file, no statement and no data. */
  readonly shortage: string

  constructor(shortage: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.shortage = shortage
  }
}

/** AWAY: a connection is lost, or leads to a server that takes no writes. CROWDED: the server has no connection left; open ones stay good. */
export type PostgresOutage = 'AWAY' | 'CROWDED' | { readonly shortage: string }

/** Whether the connection is of no use any more, either. */
export const isDatabaseAway = (error: unknown): boolean =>
  isDatabaseUnavailable(error) && !(error instanceof DatabaseShortage)

/** Codes of Postgres, or their classes: what fails with one of them may succeed later, with nothing changed. */
const OUTAGES: Readonly<Record<string, PostgresOutage>> = {
  // Connection exceptions.
  '08': 'AWAY',
  // The server shuts down, has crashed, starts, has dropped the database, or ends a connection by one of its timeouts.
  '57P01': 'AWAY',
  '57P02': 'AWAY',
  '57P03': 'AWAY',
  '57P04': 'AWAY',
  '57P05': 'AWAY',
  '25P03': 'AWAY',
  '25P04': 'AWAY',
  // It has become a standby, or is set to read only.
  '25006': 'AWAY',
  '53300': 'CROWDED',
  '53000': { shortage: 'the database has not enough resources' },
  '53100': { shortage: 'the database has no space left' },
  '53200': { shortage: 'the database has no memory left' },
  '53400': { shortage: 'the database has reached a limit of its configuration' },
  '58000': { shortage: 'the system of the database fails' },
  '58030': { shortage: 'the database cannot read or write its files' },
}

/** Null: an error with this code says nothing of the kind. */
export const postgresOutageOf = (code: string | undefined): PostgresOutage | null =>
  OUTAGES[code ?? ''] ?? OUTAGES[(code ?? '').slice(0, 2)] ?? null

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
