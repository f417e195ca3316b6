/**
 * The database cannot be reached, or rejects this statement for now. The statement may have been executed: only its
 * answer may be lost.
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

/** The database may be there: all connections of a pool of this process are in use, for as long as a request may wait for one. */
export class PoolExhausted extends DatabaseUnavailable {
  /** e.g. `answers`. */
  readonly pool: string
  readonly connections: number

  constructor(pool: string, { connections, waitedMs }: { readonly connections: number; readonly waitedMs: number }) {
    const which = connections === 1 ? 'The one connection' : `All ${connections} connections`
    super(`${which} of the pool ${pool} of this server stayed in use for ${waitedMs} ms`)
    this.pool = pool
    this.connections = connections
  }
}

/** AWAY: a connection is lost, or leads to a server that takes no writes. CROWDED: the server has no connection left; open ones stay good. */
export type PostgresOutage = 'AWAY' | 'CROWDED' | { readonly shortage: string }

/** True if the connection is unusable, too. */
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

/** True if the error is, or was caused by, an unavailable database. */
export const isDatabaseUnavailable = (error: unknown): boolean => unavailabilityIn(error) !== null

/** The error of that kind that this is, or was caused by; null: neither. */
export function unavailabilityIn(error: unknown, depth = 0): DatabaseUnavailable | null {
  if (error instanceof DatabaseUnavailable) return error
  if (!(error instanceof Error) || depth === DEEPEST) return null
  const { cause, originalError } = error as Error & { readonly originalError?: unknown }
  return unavailabilityIn(cause ?? originalError, depth + 1)
}
