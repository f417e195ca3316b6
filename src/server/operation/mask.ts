import { GraphQLError, isValueNode } from 'graphql'
import type { FailureCode } from '../../core/vocabulary.ts'
import { failureOf, internalFailure, presentable } from '../../graphql/schema/failures.ts'
import type { Logger } from '../../logger.ts'

/**
 * True if the caller can mend it. Ours have codes. GraphQL gives none: it refuses a request as a whole, at no path, or a value of the document for an
 * argument. All else is what it finds wrong with values that resolvers return.
 */
const isForCaller = ({ extensions, path, nodes }: GraphQLError): boolean =>
  extensions.code !== undefined || path === undefined || (nodes?.some(isValueNode) ?? false)

function forCaller(error: GraphQLError): GraphQLError {
  const message = presentable(error.message)
  const { nodes, path, extensions } = error
  if (message === error.message && extensions.code !== undefined) return error
  const code: FailureCode = 'BAD_USER_INPUT'
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions: { code, ...extensions } })
}

/** True if a timeout, wherever detected, left out a part of the answer. */
export const isTimeout = (error: GraphQLError): boolean =>
  error.extensions.code === TIMEOUT || failureOf(error.originalError ?? error)?.extensions.code === TIMEOUT
const TIMEOUT: FailureCode = 'TIMEOUT'

/** Passes errors for the caller; logs every other one and returns an internal error instead. */
export function mask(error: unknown, logger: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error
  if (error instanceof GraphQLError && original instanceof GraphQLError && isForCaller(error)) return forCaller(error)
  const shown = original instanceof Error ? failureOf(original) : null
  if (!shown) logger.error({ err: original }, 'a request failed')
  const { nodes, path } = error instanceof GraphQLError ? error : {}
  const { message, extensions } = shown ?? internalFailure()
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions })
}
