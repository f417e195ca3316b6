import { GraphQLError, type GraphQLSchema, parse } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { Viewer } from '../core/ports/viewer.ts'
import { createContext, type GraphQLContext, type GraphQLServices } from '../graphql/context.ts'
import { MAX_BODY, MAX_DOCUMENT_LENGTH, MAX_TOKENS } from '../graphql/schema/limits.ts'
import { mask } from './mask.ts'
import { refuseNul } from './refuse-nul.ts'

/** The context of a request: its caller. */
export interface RequestContext {
  readonly viewer: Viewer
  /** Aborts when the client has gone. */
  readonly signal?: AbortSignal
}
export type Yoga = ReturnType<typeof createGraphQL>

/** GraphQL itself: parses, limits, executes, masks. The caller is authenticated before. */
export function createGraphQL(schema: GraphQLSchema, services: GraphQLServices) {
  return createYoga<RequestContext, GraphQLContext>({
    schema,
    context: ({ viewer, signal }) => createContext(services, viewer, signal),
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

/** Refuses a document that is too long before it is parsed. */
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
