import { GraphQLError } from 'graphql'
import type { FailureCode } from '../../core/vocabulary.ts'
import { failureOf, internalFailure, presentable } from '../../graphql/schema/failures.ts'
import type { Logger } from '../../logger.ts'

function forCaller(error: GraphQLError): GraphQLError {
  const message = presentable(error.message)
  const { nodes, path, extensions } = error
  if (message === error.message && extensions.code !== undefined) return error
  // GraphQL itself refuses an argument for which a variable has no value, and gives no code.
  const code: FailureCode = 'BAD_USER_INPUT'
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions: { code, ...extensions } })
}

/** True if a timeout, wherever detected, left out a part of the answer. */
export const isTimeout = (error: GraphQLError): boolean =>
  error.extensions.code === TIMEOUT || failureOf(error.originalError ?? error)?.extensions.code === TIMEOUT
const TIMEOUT: FailureCode = 'TIMEOUT'

/** Passes errors for the caller; logs every other one and returns an internal error instead. */
export function mask(error: unknown, logger: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? error.originalError : error
  if (error instanceof GraphQLError && (!original || original instanceof GraphQLError)) return forCaller(error)
  const shown = original instanceof Error ? failureOf(original) : null
  if (!shown) logger.error({ err: original }, 'a request failed')
  const { nodes, path } = error instanceof GraphQLError ? error : {}
  const { message, extensions } = shown ?? internalFailure()
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions })
}
