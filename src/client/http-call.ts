import type { Variables } from './client.ts'
import { ClientError, fromGraphqlErrors, isRecord, isRetryableStatus } from './client-error.ts'
import { type Answer, post } from './post.ts'

export interface HttpCall {
  readonly url: URL
  readonly token: string
  readonly fetch: typeof globalThis.fetch | undefined
  readonly document: string
  readonly variables: Variables
  readonly signal: AbortSignal
}

/**
 * One GraphQL operation over HTTP POST.
 * @throws ClientError, or the signal's reason when it aborts
 */
export async function httpCall<T>(call: HttpCall): Promise<T> {
  const { status, text } = await send(call)
  const body = parse(text)
  const failed = isRecord(body) ? fromGraphqlErrors(body.errors, status) : null
  if (status === 401 || status === 403) {
    throw new ClientError('unauthorized', failed?.message ?? `The server answered ${status}.`, { status })
  }
  if (failed) throw failed
  if (isRecord(body) && isRecord(body.data)) return body.data as T
  throw new ClientError('http', `The server answered ${status} without a GraphQL result.`, {
    status,
    retryable: isRetryableStatus(status),
  })
}

async function send({ url, token, fetch, document, variables, signal }: HttpCall): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json',
  }
  try {
    return await post({ url, headers, body: JSON.stringify({ query: document, variables }), signal }, fetch)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw new ClientError('network', networkProblem(error, token))
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** fetch hides what happened in its cause. */
function networkProblem(error: unknown, token: string): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = isCoded(cause) ? cause.code : undefined
  const message = cause instanceof Error && cause.message !== '' ? cause.message : (code ?? 'the request failed')
  return message.replaceAll(token, '…')
}
const isCoded = (value: unknown): value is { readonly code: string } =>
  typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string'
