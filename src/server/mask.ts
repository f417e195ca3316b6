import { GraphQLError } from 'graphql'
import { internalFailure } from '../graphql/schema/failures.ts'
import { badInput } from '../graphql/schema/limits.ts'
import type { Logger } from '../logger.ts'

/** Postgres takes no NUL in text, and no time or number beyond its range: class 22, data exceptions. */
function isImpossibleValue(error: unknown): boolean {
  const { code, meta } = error as { readonly code?: unknown; readonly meta?: PrismaMeta }
  const cause = meta?.driverAdapterError?.cause?.code ?? code
  return typeof cause === 'string' && /^22...$/.test(cause)
}
/** Where Prisma keeps what Postgres has said. */
interface PrismaMeta {
  readonly driverAdapterError?: { readonly cause?: { readonly code?: string } }
}

/** What was meant for the caller passes; of everything else only the log knows more. */
export function mask(error: unknown, logger: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? error.originalError : error
  if (error instanceof GraphQLError && (!original || original instanceof GraphQLError)) return error
  const told =
    original instanceof Error && isImpossibleValue(original)
      ? badInput('A value in the request cannot be stored or compared.')
      : null
  if (!told) logger.error({ err: original }, 'a request failed')
  const { nodes, path } = error instanceof GraphQLError ? error : {}
  const { message, extensions } = told ?? internalFailure()
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions })
}
