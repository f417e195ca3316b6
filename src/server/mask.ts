import { GraphQLError } from 'graphql'
import { internalFailure, shortened } from '../graphql/schema/failures.ts'
import { badInput } from '../graphql/schema/limits.ts'
import type { Logger } from '../logger.ts'

/** Postgres refuses NUL in text, and times or numbers beyond their range: class 22, data exceptions. */
function isImpossibleValue(error: unknown): boolean {
  const { code, meta } = error as { readonly code?: unknown; readonly meta?: PrismaMeta }
  const cause = meta?.driverAdapterError?.cause?.code ?? code
  return typeof cause === 'string' && /^22...$/.test(cause)
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

/** Passes errors for the caller; logs every other one and returns an internal error instead. */
export function mask(error: unknown, logger: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? error.originalError : error
  if (error instanceof GraphQLError && (!original || original instanceof GraphQLError)) return withoutLength(error)
  const shown =
    original instanceof Error && isImpossibleValue(original)
      ? badInput('A value in the request cannot be stored or compared.')
      : null
  if (!shown) logger.error({ err: original }, 'a request failed')
  const { nodes, path } = error instanceof GraphQLError ? error : {}
  const { message, extensions } = shown ?? internalFailure()
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions })
}
