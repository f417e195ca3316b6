import { DatabaseError } from 'pg'
import { DatabaseShortage, DatabaseUnavailable, postgresOutageOf } from '../core/database-unavailable.ts'

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

/** The server has no free connection for us; open ones still work. */
export const isCrowded = (error: unknown): boolean =>
  error instanceof DatabaseError
    ? postgresOutageOf(error.code) === 'CROWDED'
    : error instanceof DatabaseUnavailable && error.cause instanceof DatabaseError && isCrowded(error.cause)

/** A statement was prepared for tables or types that others have taken the place of since, as after a restore. Not by its message, which is translated. */
export const isStale = ({ code, routine, message }: Pick<DatabaseError, 'code' | 'routine' | 'message'>): boolean =>
  (code === '0A000' && routine === 'RevalidateCachedQuery') || (code === 'XX000' && STALE_TYPE.test(message))
/** Messages for developers are not translated. */
const STALE_TYPE = /^cache lookup failed for type /

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
  if (error instanceof DatabaseError) {
    if (isStale(error)) return new DatabaseUnavailable(error.message, { cause: error })
    const outage = postgresOutageOf(error.code)
    if (outage === null) return null
    if (typeof outage === 'string') return new DatabaseUnavailable(error.message, { cause: error })
    return new DatabaseShortage(outage.shortage, error.message, { cause: error })
  }
  const { code, errors } = error as Error & { readonly code?: unknown; readonly errors?: unknown }
  if (!DRIVER.test(error.message) && !(typeof code === 'string' && SYSTEM.has(code))) return null
  // A name with several addresses fails with an error that has no message of its own.
  const [first] = Array.isArray(errors) ? errors : []
  const reason = error.message || (first instanceof Error ? first.message : '') || String(code)
  return new DatabaseUnavailable(reason, { cause: error })
}
