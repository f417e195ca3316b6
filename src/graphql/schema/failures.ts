import { GraphQLError } from 'graphql'
import { DATABASE_RETRY_MS } from '../../core/database-unavailable.ts'
import type { AuditCursorExpired } from '../../core/ports/audit.ts'
import { CursorExpired, type Log } from '../../core/ports/log.ts'
import type { FailureCode } from '../../core/vocabulary.ts'
import { encodeCursor } from '../../log/cursor.ts'

/** Top-level errors that are meant for the caller. All others are bugs and show no detail. */

export const failure = (code: FailureCode, message: string, extensions: object = {}): GraphQLError =>
  new GraphQLError(message, { extensions: { code, ...extensions } })

/** GraphQL quotes a value that does not fit, however long it is. */
export const shortened = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE)} …`
const MAX_MESSAGE = 10_000

/**
 * Names what the log holds now, and the cursors to resume from: before its oldest change, after its newest, and the last
 * one that is in every history of the log.
 */
export async function cursorExpired({ message }: CursorExpired, log: Pick<Log, 'end'>): Promise<GraphQLError> {
  const [floor, head, common] = await Promise.all([log.end('floor'), log.end('head'), log.end('common')])
  return failure('CURSOR_EXPIRED', message, {
    oldest: floor.sequence + 1,
    head: head.sequence,
    startCursor: encodeCursor(floor),
    endCursor: encodeCursor(head),
    commonCursor: encodeCursor(common),
  })
}

export const auditCursorExpired = ({ message, oldest, head }: AuditCursorExpired): GraphQLError =>
  failure('CURSOR_EXPIRED', message, { oldest, head })

/** Turns an expired cursor into its error for the caller; other errors pass unchanged. */
export async function reportExpired<T>(log: Pick<Log, 'end'>, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof CursorExpired ? await cursorExpired(error, log) : error
  }
}

export const notFoundFailure = (id: string): GraphQLError =>
  failure('NOT_FOUND', `There is no object ${id} that you may read.`)

export const forbiddenFailure = (message: string): GraphQLError => failure('FORBIDDEN', message)

/** Whoever repeats a mutation needs an idempotency key, since this one may have been done. */
export const databaseFailure = (): GraphQLError =>
  failure(
    'SERVICE_UNAVAILABLE',
    'The database is not available at the moment: try again. A mutation that is answered so may have been done; its idempotencyKey makes it safe to repeat.',
    { retryable: true, retryAfterMs: DATABASE_RETRY_MS },
  )

export const internalFailure = (): GraphQLError =>
  failure('INTERNAL_SERVER_ERROR', 'Something went wrong on the server; its log says more.')
