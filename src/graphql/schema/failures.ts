import { GraphQLError } from 'graphql'
import { BUSY_RETRY_MS, Busy } from '../../core/busy.ts'
import { DATABASE_RETRY_MS, PoolExhausted, unavailabilityIn } from '../../core/database-unavailable.ts'
import type { AuditCursorExpired } from '../../core/ports/audit.ts'
import { CursorExpired, type Log } from '../../core/ports/log.ts'
import type { FailureCode } from '../../core/vocabulary.ts'
import { withoutStacks } from '../../core/without-stacks.ts'
import { encodeCursor } from '../../log/cursor.ts'

/**
 * Top-level errors that are meant for the caller. All others are bugs and show no detail. They have no stacks: an answer may hold
 * a thousand of them, and a stack costs more than the field.
 */
export const failure = (code: FailureCode, message: string, extensions: object = {}): GraphQLError =>
  withoutStacks(() => new GraphQLError(message, { extensions: { code, ...extensions } }))

/**
 * A message of GraphQL as callers get it. GraphQL quotes a value that does not fit, and one at which a document cannot be parsed:
 * it may be a secret, or have one within it, so it is left out. Names, types and places stay, if they are not too long.
 */
export function presentable(message: string): string {
  const short = message.slice(0, MAX_MESSAGE)
  const unquoted = QUOTED.reduce((text, [quoted, rest]) => text.replace(quoted, rest), short)
  return unquoted === short && short !== message ? `${short} …` : unquoted
}
const QUOTED: readonly (readonly [RegExp, string])[] = [
  [/[,;] found: .*$/s, '.'],
  [/\? Found: .*$/s, '?'],
  [/( cannot represent [^:]{0,100}): .*$/s, '$1.'],
  [/( (?:found|Unexpected) (?:BlockString|String|Int|Float)) ".*$/s, '$1.'],
  // With the place and the reason, which stand behind the value.
  [/ got invalid value .*?( at "[\w.[\]]*")?(; [^;]*)$/s, ' got an invalid value$1$2'],
  [/ got invalid value .*$/s, ' got an invalid value.'],
]
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

/** The mutation may have been done, so that its repetition needs an idempotency key. Null: the error is another one. */
export function databaseFailure(error: unknown): GraphQLError | null {
  const unavailable = unavailabilityIn(error)
  if (!unavailable) return null
  const isBusy = unavailable instanceof PoolExhausted
  const what = isBusy ? unavailable.message : 'The database is not available at the moment'
  return failure(
    'SERVICE_UNAVAILABLE',
    `${what}: try again. A mutation that is answered so may have been done; its idempotencyKey makes it safe to repeat.`,
    { retryable: true, retryAfterMs: DATABASE_RETRY_MS, ...(isBusy && { pool: unavailable.pool }) },
  )
}

/** Nothing was written. */
const busyFailure = ({ message, waiting }: Busy): GraphQLError =>
  failure('BUSY', `${message} Nothing was written: try again.`, {
    retryable: true,
    retryAfterMs: BUSY_RETRY_MS,
    ...(waiting !== null && { waiting }),
  })

/** Postgres refuses NUL in text, and times or numbers beyond their range: class 22, data exceptions. */
const isImpossibleValue = (error: unknown): boolean => /^22...$/.test(postgresCodeOf(error))

/** A statement that has taken too long was cancelled. */
const isCancelled = (error: unknown): boolean => postgresCodeOf(error) === '57014'

/** Another transaction has kept a lock for too long, or has changed the same: deadlocks and serialisation failures. */
const isContended = (error: unknown): boolean => /^(55P03|40001|40P01)$/.test(postgresCodeOf(error))

function postgresCodeOf(error: unknown): string {
  const { code, meta } = error as { readonly code?: unknown; readonly meta?: PrismaMeta }
  return String(meta?.driverAdapterError?.cause?.code ?? code)
}
/** Prisma's wrapping of an error of Postgres. */
interface PrismaMeta {
  readonly driverAdapterError?: { readonly cause?: { readonly code?: string } }
}

/** The public form of an error that is not meant for the caller; null: none. */
export function failureOf(error: Error): GraphQLError | null {
  if (error instanceof Busy) return busyFailure(error)
  if (isImpossibleValue(error)) return failure('BAD_USER_INPUT', 'A value in the request cannot be stored or compared.')
  // The log reports the outage, once.
  const unavailable = databaseFailure(error)
  if (unavailable) return unavailable
  if (isContended(error)) return failure('TIMEOUT', 'Others have worked on the same for too long: try again.')
  if (isCancelled(error)) return failure('TIMEOUT', 'The database took too long: ask for less, or for smaller pages.')
  return null
}

export const internalFailure = (): GraphQLError =>
  failure('INTERNAL_SERVER_ERROR', 'Something went wrong on the server; its log says more.')
