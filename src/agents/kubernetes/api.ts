import { IsomorphicFetchHttpLibrary, type KubeConfig, RequestContext, type V1Status } from '@kubernetes/client-node'
import { asError } from '../../client/as-error.ts'
import { pause, retryDelay } from '../../client/pause.ts'

/** The API server's refusal. `message` may quote what was sent. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** As the API names it, e.g. NotFound or Forbidden. */
  readonly reason: string
  /** Why the API names this reason, e.g. FieldManagerConflict. */
  readonly causes: readonly string[]
  constructor(status: number, reason: string, message: string, causes: readonly string[] = []) {
    super(message)
    this.status = status
    this.reason = reason
    this.causes = causes
  }
}

export interface ApiRequest {
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  /** Gives up; requests are otherwise repeated until the API server answers. */
  readonly signal?: AbortSignal | undefined
  /** Maximum attempts while an API fails; by default until it succeeds. */
  readonly attempts?: number
  /** Lists objects with their metadata only. */
  readonly metadataOnly?: boolean
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'APPLY' | 'DELETE'
/** Content types of bodies. */
const CONTENT: Readonly<Record<Method, string>> = {
  GET: 'application/json',
  POST: 'application/json',
  PUT: 'application/json',
  PATCH: 'application/merge-patch+json',
  // JSON is YAML.
  APPLY: 'application/apply-patch+yaml',
  DELETE: 'application/json',
}
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
type Response = Awaited<ReturnType<ReturnType<IsomorphicFetchHttpLibrary['send']>['toPromise']>>

const TIMEOUT_MS = 30_000
const DISPATCHER_MS = 600_000
const OVERLOADED = 429
/** The API server is away, overloaded, or has lost its database for a moment: it says nothing about the request. */
const isTransient = ({ status }: ApiError): boolean => status === 0 || status === OVERLOADED || status >= 500

/** Older API servers answer an apply that they cannot merge like a failure of their own. */
const FAILED = 500
const APPLIES = 4
const mayPass = (error: ApiError, method: Method, failures: number): boolean =>
  isTransient(error) && !(method === 'APPLY' && error.status === FAILED && failures + 1 >= APPLIES)

export const isStatus = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof ApiError && statuses.includes(error.status)

/**
 * The API of a cluster on the transport and the credentials of the Kubernetes client. Its generated methods take no signal,
 * and it opens a connection for each request; this class shares them.
 */
export class KubernetesApi {
  readonly #config: KubeConfig
  readonly #closing: AbortSignal
  readonly #onRetry: (error: Error) => void
  readonly #http = new IsomorphicFetchHttpLibrary()
  #dispatcher: ReturnType<RequestContext['getDispatcher']>
  #dispatcherUntil = 0

  /** @param onRetry called with what makes a request be repeated */
  constructor(config: KubeConfig, closing: AbortSignal, onRetry: (error: Error) => void = () => {}) {
    this.#config = config
    this.#closing = closing
    this.#onRetry = onRetry
  }

  get<T>(path: string, request: ApiRequest = {}): Promise<T> {
    return this.#json('GET', path, request)
  }
  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.#json('POST', path, { body, signal })
  }
  /** Replaces an object. */
  put<T>(path: string, body: unknown, query: ApiRequest['query']): Promise<T> {
    return this.#json('PUT', path, { body, query: query ?? {} })
  }
  /** A merge patch. */
  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#json('PATCH', path, { body })
  }
  /** A server-side apply. */
  apply<T>(path: string, body: unknown, query: ApiRequest['query']): Promise<T> {
    return this.#json('APPLY', path, { body, query: query ?? {} })
  }
  /** A missing object counts as deleted. */
  async delete(path: string, body: unknown = {}): Promise<void> {
    await orNull(this.#json('DELETE', path, { body }))
  }
  /** Null: it is not there. */
  find<T>(path: string): Promise<T | null> {
    return orNull(this.get<T>(path))
  }

  /** A response without an end of its own. One attempt. */
  async stream(path: string, query: ApiRequest['query'], signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#send('GET', path, {
      query: query ?? {},
      signal: AbortSignal.any([signal, this.#closing]),
    })
    return (response.body.stream() ?? []) as AsyncIterable<Uint8Array>
  }

  async #json<T>(
    method: Method,
    path: string,
    { signal, attempts = Number.POSITIVE_INFINITY, ...request }: ApiRequest,
  ): Promise<T> {
    const ended = signal ? AbortSignal.any([signal, this.#closing]) : this.#closing
    for (let failures = 0; ; failures += 1) {
      try {
        const attempt = AbortSignal.any([ended, AbortSignal.timeout(TIMEOUT_MS)])
        const response = await this.#send(method, path, { ...request, signal: attempt })
        return JSON.parse(await response.body.text()) as T
      } catch (error) {
        ended.throwIfAborted()
        const isLast = failures + 1 >= attempts
        if (error instanceof ApiError && (isLast || !mayPass(error, method, failures))) throw error
        this.#onRetry(asError(error))
        await pause(retryDelay(failures), ended)
      }
    }
  }

  async #send(
    method: Method,
    path: string,
    { query = {}, body, signal, metadataOnly = false }: ApiRequest & { readonly signal: AbortSignal },
  ): Promise<Response> {
    const verb = method === 'APPLY' ? 'PATCH' : method
    const context = new RequestContext(`${this.#config.getCurrentCluster()?.server}${path}`, verb)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) context.setQueryParam(name, value)
    context.setHeaderParam('Accept', metadataOnly ? METADATA : 'application/json')
    if (body !== undefined) {
      context.setHeaderParam('Content-Type', CONTENT[method])
      context.setBody(JSON.stringify(body))
    }
    await this.#config.applySecurityAuthentication(context)
    this.#share(context)
    context.setSignal(signal)
    const response = await this.#http.send(context).toPromise()
    if (response.httpStatusCode < 400) return response
    throw errorOf(response.httpStatusCode, await response.body.text())
  }

  /** Credentials come with each context; a dispatcher is kept for its connections until certificates may have changed. */
  #share(context: RequestContext): void {
    const now = performance.now()
    if (now > this.#dispatcherUntil) {
      this.#dispatcher = context.getDispatcher()
      this.#dispatcherUntil = now + DISPATCHER_MS
    }
    if (this.#dispatcher) context.setDispatcher(this.#dispatcher)
  }
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (isStatus(error, 404)) return null
    throw error
  }
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { reason = '', message = '', details } = JSON.parse(text) as V1Status
    const causes = details?.causes?.flatMap((cause) => cause.reason ?? []) ?? []
    return new ApiError(status, reason, message, causes)
  } catch {
    return new ApiError(status, '', text.slice(0, 500))
  }
}
