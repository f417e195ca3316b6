import { DatabaseError } from 'pg'
import { DatabaseUnavailable } from '../core/database-unavailable.ts'

/**
 * Codes of Postgres: connection exceptions, shutdown, crash and start of the server, too many connections, a server that has
 * become a standby, and the two timeouts by which it ends a connection.
 */
const POSTGRES = /^(08...|57P0[1235]|53300|25006|25P03)$/
/** Codes of the operating system and of name resolution. ENOENT: the socket of a server that does not run. */
const SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])
/** The driver gives these errors no code. */
const DRIVER = /^(Connection terminated|timeout e|Client (has encountered a connection error|was closed) and is not)/

/** Nothing came back in time. */
export class Unanswered extends DatabaseUnavailable {}

/** The code of a server that has no connection left: it is there. */
const TOO_MANY = '53300'

/** The server has no connection left for us, and those that are open go on. */
export const isCrowded = (error: unknown): boolean =>
  error instanceof DatabaseError
    ? error.code === TOO_MANY
    : error instanceof DatabaseUnavailable && error.cause instanceof DatabaseError && isCrowded(error.cause)

/** A login that the server does not accept, or not any more. */
const LOGIN = /^28...$/

/** The same for a new connection, which needs a login: while a process runs, one that is refused is an outage like others. */
export function unreachableOf(error: unknown): DatabaseUnavailable | null {
  const refused = error instanceof DatabaseError && LOGIN.test(error.code ?? '')
  return refused ? new DatabaseUnavailable(error.message, { cause: error }) : unavailableOf(error)
}

export const isLoginRefused = (error: unknown): boolean =>
  error instanceof DatabaseError ? LOGIN.test(error.code ?? '') : error instanceof Error && isLoginRefused(error.cause)

/** The same error for all ways in which the database can be away; null: the error is another one. */
export function unavailableOf(error: unknown): DatabaseUnavailable | null {
  if (error instanceof DatabaseUnavailable) return error
  if (!(error instanceof Error)) return null
  const { code, errors } = error as Error & { readonly code?: unknown; readonly errors?: unknown }
  const isAway =
    error instanceof DatabaseError
      ? POSTGRES.test(error.code ?? '')
      : DRIVER.test(error.message) || (typeof code === 'string' && SYSTEM.has(code))
  if (!isAway) return null
  // A name with several addresses fails with an error that has no message of its own.
  const [first] = Array.isArray(errors) ? errors : []
  const reason = error.message || (first instanceof Error ? first.message : '') || String(code)
  return new DatabaseUnavailable(reason, { cause: error })
}
