import type { ServerResponse } from 'node:http'
import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql'
import type { Viewer } from '../core/ports/viewer.ts'
import { reply } from './reply.ts'
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

/** Null: the request is in another form, which yoga handles. */
export function parsePlain(body: string, accept: string | undefined): PlainRequest | null {
  if (accept !== undefined && !/application\/(graphql-response\+)?json|\*\/\*/.test(accept)) return null
  return plainOf(parse(body))
}

/** The same for the parameters of a GET. */
export function parseParams(params: URLSearchParams): PlainRequest | null {
  const { variables = 'null', extensions = 'null', ...others } = Object.fromEntries(params)
  const parsed = { variables: parse(variables), extensions: parse(extensions) }
  return Object.values(parsed).includes(undefined) ? null : plainOf({ ...others, ...parsed })
}

function plainOf(request: unknown): PlainRequest | null {
  if (!isObject(request) || Object.keys(request).some((key) => !KNOWN.has(key))) return null
  const { query, operationName = null, variables = null, extensions = null } = request
  if (typeof query !== 'string' || !(operationName === null || typeof operationName === 'string')) return null
  if (!(variables === null || isObject(variables)) || !(extensions === null || isObject(extensions))) return null
  return { query, operationName, variables }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined for what is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Answers without the machinery of fetch, which costs several times as much as GraphQL itself. False: nothing was executed
 * or answered, so yoga must answer, also with the errors.
 */
export async function answerPlain(
  { query, operationName, variables }: PlainRequest,
  viewer: Viewer,
  {
    yoga,
    accept,
    response,
  }: { readonly yoga: Yoga; readonly accept: string | undefined; readonly response: ServerResponse },
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
    const type = accept?.includes(RESPONSE) ? RESPONSE : 'application/json'
    reply(response, 200, `${type}; charset=utf-8`, JSON.stringify(result))
    return true
  } catch (error) {
    if (error instanceof GraphQLError && !response.headersSent) return false
    throw error
  }
}
