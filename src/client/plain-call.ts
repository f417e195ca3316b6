import { ClientError, fromGraphqlErrors, isRecord, isRetryableStatus } from './client-error.ts'
import { networkProblem } from './http-call.ts'

/** A call of what goes beside GraphQL. */
export interface PlainCall {
  /** The endpoint of GraphQL. */
  readonly url: URL
  readonly token: string
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
}

/** @throws ClientError, or the reason of the signal */
export async function send(
  { url, token, fetch, signal }: PlainCall,
  path: string,
  init: object = {},
): Promise<Response> {
  const { headers = {} } = init as { headers?: Readonly<Record<string, string>> }
  const request = { ...init, headers: { ...headers, authorization: `Bearer ${token}` }, redirect: 'error', signal }
  const response = await fetch(new URL(path, url), request as RequestInit).catch((error: unknown) => {
    if (signal.aborted) throw signal.reason
    throw new ClientError('network', networkProblem(error, token))
  })
  if (response.ok) return response
  const { status } = response
  const answer: unknown = await response.json().catch(() => null)
  const failed = isRecord(answer) ? fromGraphqlErrors(answer.errors, status) : null
  if (status === 401)
    throw new ClientError('unauthorized', failed?.message ?? `The server answered ${status}.`, { status })
  throw (
    failed ??
    new ClientError('http', `The server answered ${status}.`, { status, retryable: isRetryableStatus(status) })
  )
}

/** @throws ClientError, or the reason of the signal */
async function textOf(response: Response, { token, signal }: PlainCall): Promise<string> {
  return await response.text().catch((error: unknown) => {
    if (signal.aborted) throw signal.reason
    throw new ClientError('network', networkProblem(error, token))
  })
}

/**
 * Seals of the log after so many, as `GET /log/seals` sends them.
 * @throws ClientError, or the reason of the signal
 */
export async function readSealPage(call: PlainCall, after: number): Promise<readonly string[]> {
  return (await textOf(await send(call, `log/seals?after=${after}`), call)).split('\n').slice(0, -1)
}

/** A page of `GET /log`. */
export interface LogPage {
  /** JSON of one phase change each, as it was sent, oldest first. */
  readonly lines: readonly string[]
  /** The cursor after which the next page begins: that of the request if there is nothing more. */
  readonly next: string
}

/** @throws ClientError, or the reason of the signal */
export async function readLogPage(call: PlainCall, parameters: Readonly<Record<string, string>>): Promise<LogPage> {
  const response = await send(call, `log?${new URLSearchParams(parameters)}`)
  const text = await textOf(response, call)
  const [, address] = /^<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
  const next = address === undefined ? null : new URL(address, call.url).searchParams.get('after')
  if (next === null) throw new ClientError('http', 'The answer is no page of the log.', { status: response.status })
  return { lines: text.split('\n').slice(0, -1), next }
}
