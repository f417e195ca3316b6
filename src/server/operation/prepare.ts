import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { FailureCode } from '../../core/vocabulary.ts'
import type { GraphQLContext } from '../../graphql/context.ts'
import { failure, presentable } from '../../graphql/schema/failures.ts'
import { isRefusalReason, type Refusals } from '../limits/refusals.ts'
import type { ClientSink } from '../streams/client-sink.ts'
import type { Subscribe } from '../streams/subscribe.ts'
import type { DocumentCache } from './document-cache.ts'
import type { NamedDocument, TrustedDocuments } from './trusted-documents.ts'
import type { Yoga } from './yoga.ts'

export interface OperationParts {
  readonly schema: GraphQLSchema
  readonly yoga: Yoga
  readonly subscribe: Subscribe
  readonly trusted: TrustedDocuments
  readonly documents: Pick<DocumentCache, 'costOf'>
  readonly refusals: Refusals
  /** The part of an error that the caller may see. */
  readonly mask: (error: unknown) => GraphQLError
}

/** JSON that nobody has judged, but for its size. */
export interface RequestParams extends NamedDocument {
  readonly operationName?: unknown
  readonly variables?: unknown
}
/** An operation as a transport has decoded it. */
export interface SentOperation {
  readonly request: RequestParams
  readonly viewer: Viewer
  /** Counts further requests of the caller, before what costs as much is done. */
  readonly charge: (requests: number) => void
  /** Aborts when the client has gone. */
  readonly signal?: AbortSignal
}

interface Known {
  readonly document: DocumentNode
  readonly operationName: string | null
}
/** A validated request by kind of operation. Nothing has run yet. */
export type PreparedOperation =
  | { readonly kind: 'refused'; readonly errors: readonly GraphQLError[] }
  /** One answer. */
  | (Known & {
      readonly kind: 'answer'
      readonly operation: 'query' | 'mutation'
      readonly answer: () => Promise<AnsweredOperation>
    })
  /** A subscription writes its events to a sink, under its id there. */
  | (Known & {
      readonly kind: 'stream'
      readonly stream: (sink: ClientSink, id: string) => ReturnType<Subscribe>
    })

export interface AnsweredOperation {
  readonly result: ExecutionResult
  /** Characters of its texts and its JSON, as they were counted. */
  readonly characters: number
}

/** The only entry to GraphQL, for every transport: finds, parses and validates the document, and returns its kind. */
export function prepare({ request, viewer, charge, signal }: SentOperation, parts: OperationParts): PreparedOperation {
  const { schema, trusted, documents, subscribe } = parts
  const { parse, validate, contextFactory, execute } = parts.yoga.getEnveloped({
    viewer,
    ...(signal ? { signal } : {}),
  })
  try {
    const { query, variables, operationName } = paramsOf(request, trusted)
    charge(documents.costOf(query))
    const document: DocumentNode = parse(query)
    const errors: readonly GraphQLError[] = validate(schema, document)
    if (errors.length > 0) return refused(errors, 'GRAPHQL_VALIDATION_FAILED', parts)
    const operation = getOperationAST(document, operationName)?.operation
    if (!operation) return refused([unresolved(operationName)], 'OPERATION_RESOLUTION_FAILURE', parts)
    const known = { document, operationName }
    if (operation === 'subscription') {
      const subscription = { query, document, operationName, variables: variables ?? {}, viewer }
      const stream = async (sink: ClientSink, id: string) => {
        const context = (await contextFactory()) as GraphQLContext
        return await subscribe({ request: subscription, context, sink, id })
      }
      return { kind: 'stream', ...known, stream }
    }
    const answer = async () => {
      const contextValue = (await contextFactory()) as GraphQLContext
      const args = { schema, ...known, variableValues: variables, contextValue }
      const result = (await execute(args)) as ExecutionResult
      // Nothing has run, since a variable does not fit.
      if (result.data === undefined) name(result.errors, 'BAD_USER_INPUT')
      return { result, characters: contextValue.answer.limit - contextValue.answer.left }
    }
    return { kind: 'answer', ...known, operation, answer }
  } catch (error) {
    return refused([error], 'INTERNAL_SERVER_ERROR', parts)
  }
}

function refused(errors: readonly unknown[], code: FailureCode, { mask, refusals }: OperationParts): PreparedOperation {
  const shown = errors.map(mask)
  name(shown, code)
  const reason = shown[0]?.extensions.code
  if (isRefusalReason(reason)) refusals.count(reason)
  return { kind: 'refused', errors: shown }
}

/** GraphQL gives its errors no code. Clients need none of yoga's extensions for its own transport. */
function name(errors: readonly GraphQLError[] = [], code: FailureCode): void {
  for (const { extensions } of errors) {
    extensions.code ??= code
    delete extensions.http
  }
}

function unresolved(operationName: string | null): GraphQLError {
  const message =
    operationName === null
      ? 'The document has several operations: name one of them in operationName.'
      : presentable(`The document has no operation "${operationName}".`)
  return failure('OPERATION_RESOLUTION_FAILURE', message)
}

interface OperationParams {
  readonly query: string
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>> | null
}

/** @throws BAD_REQUEST, PERSISTED_QUERY_NOT_FOUND, PERSISTED_QUERY_NOT_SUPPORTED */
function paramsOf(request: RequestParams, trusted: TrustedDocuments): OperationParams {
  const { operationName = null, variables = null, extensions = null } = request
  if (!isObjectOrNull(variables)) throw badRequest('The parameter variables is not an object.')
  if (!isObjectOrNull(extensions)) throw badRequest('The parameter extensions is not an object.')
  if (operationName !== null && typeof operationName !== 'string')
    throw badRequest('The parameter operationName is not a text.')
  const query = trusted.textOf(request) ?? request.query
  if (!isGiven(query)) throw badRequest('The parameter query is missing: send the text of a document.')
  if (typeof query !== 'string') throw badRequest('The parameter query is not a text.')
  return { query, operationName, variables }
}

const badRequest = (message: string): GraphQLError => failure('BAD_REQUEST', message)
const isGiven = (value: unknown): boolean => value !== undefined && value !== null
const isObjectOrNull = (value: unknown): value is Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && !Array.isArray(value)
