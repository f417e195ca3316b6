import { GraphQLError } from 'graphql'
import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import type { FailureCode } from '../core/vocabulary.ts'
import { databaseFailure, failure, internalFailure, shortened } from '../graphql/schema/failures.ts'
import { badInput } from '../graphql/schema/limits.ts'
import type { Logger } from '../logger.ts'

/** Postgres refuses NUL in text, and times or numbers beyond their range: class 22, data exceptions. */
const isImpossibleValue = (error: unknown): boolean => /^22...$/.test(postgresCodeOf(error))

/** A statement that has taken too long was cancelled. */
const isCancelled = (error: unknown): boolean => postgresCodeOf(error) === '57014'

/** Another transaction has kept a lock for too long. */
const hasWaitedForLock = (error: unknown): boolean => postgresCodeOf(error) === '55P03'

function postgresCodeOf(error: unknown): string {
  const { code, meta } = error as { readonly code?: unknown; readonly meta?: PrismaMeta }
  return String(meta?.driverAdapterError?.cause?.code ?? code)
}
/** Prisma's wrapping of an error of Postgres. */
interface PrismaMeta {
  readonly driverAdapterError?: { readonly cause?: { readonly code?: string } }
}

function withoutLength(error: GraphQLError): GraphQLError {
  const message = shortened(error.message)
  if (message === error.message) return error
  const { nodes, path, extensions } = error
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions })
}

/** What the caller may know of an error of the database; null: nothing. */
function shownOf(error: Error): GraphQLError | null {
  if (isImpossibleValue(error)) return badInput('A value in the request cannot be stored or compared.')
  // The log tells of the outage, once.
  if (isDatabaseUnavailable(error)) return databaseFailure()
  if (hasWaitedForLock(error)) return failure('TIMEOUT', 'Others have worked on the same for too long: try again.')
  if (isCancelled(error)) return failure('TIMEOUT', 'The database took too long: ask for less, or for smaller pages.')
  return null
}

/** Whether a part of an answer is missing since something took too long, whoever noticed it. */
export const isTimeout = (error: GraphQLError): boolean =>
  error.extensions.code === TIMEOUT || shownOf(error.originalError ?? error)?.extensions.code === TIMEOUT
const TIMEOUT: FailureCode = 'TIMEOUT'

/** Passes errors for the caller; logs every other one and returns an internal error instead. */
export function mask(error: unknown, logger: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? error.originalError : error
  if (error instanceof GraphQLError && (!original || original instanceof GraphQLError)) return withoutLength(error)
  const shown = original instanceof Error ? shownOf(original) : null
  if (!shown) logger.error({ err: original }, 'a request failed')
  const { nodes, path } = error instanceof GraphQLError ? error : {}
  const { message, extensions } = shown ?? internalFailure()
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions })
}
