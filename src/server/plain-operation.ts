import type { ServerResponse } from 'node:http'
import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql'
import type { Viewer } from '../core/ports/viewer.ts'
import type { ResolverContext } from '../graphql/resolver-context.ts'
import type { Meter } from './callers.ts'
import { jsonPieces } from './json-pieces.ts'
import { isUnavailable, RETRY_AFTER } from './outage-status.ts'
import type { NextTurn } from './parse-json.ts'
import { reply, replyPieces } from './reply.ts'
import { PIECE } from './request-text.ts'
import type { Yoga } from './yoga.ts'

/** A request in the form that nearly all clients send. */
export interface PlainRequest {
  readonly query: string
  readonly operationName?: string | null
  readonly variables?: Record<string, unknown> | null
}

const RESPONSE = 'application/graphql-response+json'
/** One for all: an exception with its stack costs more than the rest of a close. */
const GONE = new Error('The client has closed the connection.')
const KNOWN = new Set(['query', 'operationName', 'variables', 'extensions'])

/** Whether an answer that is no stream will do. */
export const acceptsJson = (accept: string | undefined): boolean =>
  accept === undefined || /application\/(graphql-response\+)?json|\*\/\*/.test(accept)

/** Null: the request is in another form, which yoga handles. */
export function plainOf(request: Readonly<Record<string, unknown>>): PlainRequest | null {
  if (Object.keys(request).some((key) => !KNOWN.has(key))) return null
  const { query, operationName = null, variables = null, extensions = null } = request
  if (typeof query !== 'string' || !(operationName === null || typeof operationName === 'string')) return null
  if (!(variables === null || isObject(variables)) || !(extensions === null || isObject(extensions))) return null
  return { query, operationName, variables }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether the texts and the JSON of an answer are so long that it is made piece by piece. They were counted as they arose. */
const isLarge = ({ answer }: ResolverContext): boolean => answer.limit - answer.left > PIECE

interface Answering {
  readonly yoga: Yoga
  readonly accept: string | undefined
  readonly response: ServerResponse
  /** Of the caller, for a large answer. */
  readonly turn: NextTurn
  readonly charge: Meter
}

/**
 * Answers without the machinery of fetch, which costs several times as much as GraphQL itself. False: nothing was executed
 * or answered, so yoga must answer, also with the errors.
 */
export async function answerPlain(
  { query, operationName, variables }: PlainRequest,
  viewer: Viewer,
  { yoga, accept, response, turn, charge }: Answering,
): Promise<boolean> {
  const gone = new AbortController()
  response.once('close', () => gone.abort(GONE))
  const { schema, parse, validate, contextFactory, execute } = yoga.getEnveloped({ viewer, signal: gone.signal })
  try {
    const document = parse(query)
    const kind = getOperationAST(document, operationName ?? undefined)?.operation
    if ((kind !== 'query' && kind !== 'mutation') || validate(schema, document).length > 0) return false
    const contextValue = await contextFactory()
    const result = (await execute({
      schema,
      document,
      contextValue,
      variableValues: variables ?? undefined,
      operationName: operationName ?? undefined,
    })) as ExecutionResult
    // Refused before anything ran, e.g. for a variable of the wrong type.
    if (result.data === undefined) return false
    const status = isUnavailable(result) ? 503 : 200
    if (status === 503) response.setHeader(...RETRY_AFTER)
    const type = `${accept?.includes(RESPONSE) ? RESPONSE : 'application/json'}; charset=utf-8`
    if (isLarge(contextValue as ResolverContext)) {
      const pieces = await jsonPieces(result, turn)
      charge(pieces.length * PIECE)
      replyPieces(response, status, type, pieces)
    } else reply(response, status, type, JSON.stringify(result))
    return true
  } catch (error) {
    if (error instanceof GraphQLError && !response.headersSent) return false
    throw error
  }
}
