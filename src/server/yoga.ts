import { GraphQLError, type GraphQLSchema, parse } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { Viewer } from '../core/ports.ts'
import { createContext, type GraphQLContext, type GraphQLServices } from '../graphql/context.ts'
import { internalFailure } from '../graphql/failures.ts'
import { badInput, MAX_BODY, MAX_DOCUMENT_LENGTH, MAX_TOKENS } from '../graphql/limits.ts'
import type { Logger } from '../logger.ts'
import { refuseNul } from './refuse-nul.ts'

/** What comes with a request: by whom it is. */
export interface RequestContext {
  readonly viewer: Viewer
}
export type Yoga = ReturnType<typeof createGraphQL>

/** GraphQL itself: parses, limits, executes, masks. Who is asking was found out before. */
export function createGraphQL(schema: GraphQLSchema, services: GraphQLServices) {
  return createYoga<RequestContext, GraphQLContext>({
    schema,
    context: ({ viewer }) => createContext(services, viewer),
    plugins: [limitDocuments, refuseNul],
    maskedErrors: { maskError: (error) => mask(error, services.logger) },
    maxRequestBodySize: MAX_BODY,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    cors: false,
    logging: false,
  })
}

/** A document that is too long is not even parsed. */
const limitDocuments: Plugin = {
  onParse({ params, setParseFn }) {
    if (String(params.source).length > MAX_DOCUMENT_LENGTH) {
      throw new GraphQLError(`A document has at most ${MAX_DOCUMENT_LENGTH} characters: use variables.`, {
        extensions: { code: 'TOO_COMPLEX', http: { status: 400 } },
      })
    }
    setParseFn((source: string) => parse(source, { maxTokens: MAX_TOKENS }))
  },
}

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
function mask(error: unknown, logger: Logger): GraphQLError {
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
