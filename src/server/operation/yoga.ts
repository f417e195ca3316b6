import type { GraphQLSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import type { Viewer } from '../../core/ports/viewer.ts'
import { createContext, type GraphQLServices, type ResolverContext } from '../../graphql/resolver-context.ts'
import { AnswerBudget } from '../../graphql/schema/answer-budget.ts'
import type { Bounds } from '../limits/bounds.ts'
import { countOperations, type ExecutedOperation } from './count-operations.ts'
import { type Disclosure, limitDisclosure } from './disclosure.ts'
import { countErrors, type DocumentCache } from './document-cache.ts'
import { endLargeAnswers } from './end-large-answers.ts'
import { endLateQueries } from './end-late-queries.ts'
import { leaveOutDeleted } from './leave-out-deleted.ts'
import { limitDocuments } from './limit-documents.ts'
import { mask } from './mask.ts'
import { traceOperations } from './trace-operations.ts'
import { requireTrusted, type TrustedDocuments } from './trusted-documents.ts'

/** The context of a request: its caller. */
export interface RequestContext {
  readonly viewer: Viewer
  /** Aborts when the client has gone. */
  readonly signal?: AbortSignal
}
export interface Rules {
  readonly bounds: Bounds
  readonly trusted: TrustedDocuments
  readonly documents: DocumentCache
  readonly disclosure: Disclosure
  readonly executed: (operation: ExecutedOperation) => void
}
export type Yoga = ReturnType<typeof createGraphQL>

/**
 * GraphQL itself: parses, limits, executes, masks. The caller is authenticated before. Only `prepare` calls it, and nothing of
 * what yoga has for HTTP is used.
 */
export function createGraphQL(
  schema: GraphQLSchema,
  services: GraphQLServices,
  { bounds, trusted, documents, disclosure, executed }: Rules,
) {
  const { limits, refusals } = bounds
  const maskError = (error: unknown) => {
    const shown = mask(error, services.logger)
    if (shown.extensions.code === 'SERVICE_UNAVAILABLE') refusals.count('SERVICE_UNAVAILABLE')
    return shown
  }
  const onExceeded = () => refusals.count('ANSWER_TOO_LARGE')
  return createYoga<RequestContext, ResolverContext>({
    schema,
    context: ({ viewer, signal }) =>
      createContext(services, viewer, { signal, answer: new AnswerBudget(limits.answerBytes, onExceeded) }),
    plugins: [
      limitDocuments(schema),
      requireTrusted(trusted),
      limitDisclosure(disclosure),
      countErrors(documents),
      countOperations(executed),
      traceOperations,
      leaveOutDeleted,
      endLateQueries(bounds),
      endLargeAnswers,
    ],
    maskedErrors: { maskError },
    parserAndValidationCache: documents,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    cors: false,
    logging: false,
  })
}
