import { ClientError, fromGraphqlErrors, isRecord, isRetryableStatus } from './client-error.ts'

export interface HttpCall {
  readonly url: URL
  readonly token: string
  readonly fetch: typeof globalThis.fetch | undefined
  readonly document: string
  readonly variables: unknown
  readonly timeoutMs: number
  readonly signals: readonly (AbortSignal | undefined)[]
}

/**
 * One GraphQL operation over HTTP POST.
 * @throws ClientError, or the reason of the signal that aborted
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

interface HttpResult {
  readonly status: number
  readonly text: string
}

async function send({ url, token, fetch, document, variables, timeoutMs, signals }: HttpCall): Promise<HttpResult> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json',
  }
  const body = JSON.stringify({ query: document, variables })
  using deadline = abortAfter(timeoutMs, signals)
  const { signal } = deadline
  try {
    return await post({ url, headers, body, signal }, fetch)
  } catch (error) {
    if (deadline.hasPassed) throw new ClientError('network', `No answer within ${timeoutMs} ms.`)
    if (signal.aborted) throw signal.reason
    throw new ClientError('network', networkProblem(error, token))
  }
}

interface HttpRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

/** Resolves to the whole response and follows no redirect. Rejects with the cause, or the signal's reason. */
function post(request: HttpRequest, fetch: typeof globalThis.fetch | undefined): Promise<HttpResult> {
  const http = fetch ? null : nodeHttp(request.url)
  return http ? postByNode(request, http) : postByFetch(request, fetch ?? globalThis.fetch)
}

type Http = Pick<typeof import('node:http'), 'request'>

/**
 * Node's own client where there is one: `fetch` costs several times as much, and its garbage survives until a full
 * collection of the heap.
 */
function nodeHttp({ protocol }: URL): Http | null {
  const { process } = globalThis as { process?: NodeJS.Process }
  return process?.getBuiltinModule?.(protocol === 'https:' ? 'node:https' : 'node:http') ?? null
}

async function postByFetch({ url, ...init }: HttpRequest, fetch: typeof globalThis.fetch): Promise<HttpResult> {
  const response = await fetch(url.href, { ...init, method: 'POST', redirect: 'error' })
  return { status: response.status, text: await response.text() }
}

async function postByNode({ url, headers, body, signal }: HttpRequest, { request }: Http): Promise<HttpResult> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<HttpResult>()
  const sent = request(url, { method: 'POST', headers: { ...headers } })
  const abort = (): void => {
    reject(signal.reason)
    sent.destroy()
  }
  signal.addEventListener('abort', abort)
  sent.on('error', reject)
  sent.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
    })
    response.on('error', reject)
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
  })
  sent.end(body)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The longest delay of a timer: with more it fires at once. */
const LONGEST_MS = 2 ** 31 - 1

interface Deadline extends Disposable {
  readonly signal: AbortSignal
  readonly hasPassed: boolean
}

/**
 * Aborts after a time, or with one of these signals. `AbortSignal.any` and `AbortSignal.timeout` hold their sources weakly,
 * and weakly held objects survive until a full collection of the heap: too much for an object of each call.
 */
function abortAfter(timeoutMs: number, signals: readonly (AbortSignal | undefined)[]): Deadline {
  const call = new AbortController()
  let hasPassed = false
  const expire = (): void => {
    hasPassed = true
    call.abort()
  }
  const timer = setTimeout(expire, Math.min(timeoutMs, LONGEST_MS))
  const unlisten = signals.flatMap((signal) => (signal ? [forwardAbort(signal, call)] : []))
  return {
    signal: call.signal,
    get hasPassed() {
      return hasPassed
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const stop of unlisten) stop()
    },
  }
}

function forwardAbort(signal: AbortSignal, call: AbortController): () => void {
  const abort = (): void => call.abort(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return () => signal.removeEventListener('abort', abort)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `fetch` hides the reason in its error's cause. */
export function networkProblem(error: unknown, token: string): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = isCoded(cause) ? cause.code : undefined
  const message = cause instanceof Error && cause.message !== '' ? cause.message : (code ?? 'the request failed')
  return message.replaceAll(token, '…')
}
const isCoded = (value: unknown): value is { readonly code: string } =>
  typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string'
