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
  /** The fields of a request that is not valid, each with what is wrong with it, without its value. */
  readonly fields: readonly string[]
  constructor(
    status: number,
    reason: string,
    message: string,
    { causes = [], fields = [] }: Partial<Pick<ApiError, 'causes' | 'fields'>> = {},
  ) {
    super(message)
    this.status = status
    this.reason = reason
    this.causes = causes
    this.fields = fields
  }

  /** Reason and message, of fields that are not valid without their values. @param message instead of its own */
  describe(message = this.fields.length > 0 ? this.fields.join('; ') : this.message): string {
    return `${this.reason || `status ${this.status}`}: ${message}`
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
export interface Page<T> {
  readonly metadata: { readonly continue?: string; readonly resourceVersion: string }
  /** Without apiVersion and kind. */
  readonly items: readonly T[]
}
/** Attempts at an API that others may serve, and whose server may be away: some seconds, so that one bad moment decides nothing. */
export const OF_OTHERS = 6

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

const PAGE = '500'
const TIMEOUT_MS = 30_000
const DISPATCHER_MS = 600_000
const OVERLOADED = 429
const GONE = 410
/** The API server is away, overloaded, or has lost its database for a moment: it says nothing about the request. */
export const isTransient = ({ status }: ApiError): boolean => status === 0 || status === OVERLOADED || status >= 500

/** Why a request is repeated. */
export const troubleOf = (error: Error): string =>
  error instanceof ApiError && error.status > 0
    ? `the API server answers with ${error.status}: ${error.message || error.reason}`
    : `the API server does not answer: ${error.message}`

/** How often a request may fail for each cause. One cause uses up no attempt of another: a race after an outage is a first race. */
const ATTEMPTS = {
  OUTAGE: Number.POSITIVE_INFINITY,
  RACE: 5,
  /** Older API servers answer an apply that they cannot merge like a failure of their own. */
  FAILED_APPLY: 4,
  REFUSAL: 1,
} as const
type Cause = keyof typeof ATTEMPTS
const INTERNAL_ERROR = 500
function causeOf(error: ApiError, method: Method, { body }: ApiRequest): Cause {
  if (isRace(error, method, body)) return 'RACE'
  if (!isTransient(error)) return 'REFUSAL'
  return method === 'APPLY' && error.status === INTERNAL_ERROR && !isOfOthers(error) ? 'FAILED_APPLY' : 'OUTAGE'
}
/** An admission webhook does not answer, such as one whose pods still start; or etcd does not in time. */
const isOfOthers = ({ message }: ApiError): boolean =>
  message.includes('failed calling webhook') || message.startsWith('etcdserver: ')

/** The object was changed at the same time, and the request depends on none of its versions: the same may succeed. */
const isRace = ({ status, reason, causes }: ApiError, method: Method, body: unknown): boolean =>
  (method === 'APPLY' || method === 'PATCH') &&
  status === 409 &&
  reason === 'Conflict' &&
  !causes.includes(CONFLICT) &&
  (body as { metadata?: { resourceVersion?: string } } | undefined)?.metadata?.resourceVersion === undefined
/** The cause of a refusal: another field manager has a field. */
export const CONFLICT = 'FieldManagerConflict'

export const isStatus = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof ApiError && statuses.includes(error.status)

/** Null: the API server answers with one of these statuses. */
export async function unless<T>(statuses: readonly number[], answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (isStatus(error, ...statuses)) return null
    throw error
  }
}

/**
 * The API of a cluster on the transport and the credentials of the Kubernetes client. Its generated methods take no signal,
 * and it opens a connection for each request; this class shares them.
 */
export class KubernetesApi {
  readonly #config: KubeConfig
  readonly #closing: AbortSignal
  readonly #onRetry: (error: Error, path: string) => void
  readonly #onAnswer: () => void
  readonly #http = new IsomorphicFetchHttpLibrary()
  #dispatcher: ReturnType<RequestContext['getDispatcher']>
  #dispatcherUntil = 0
  #hasServed = false

  /**
   * @param onRetry called with what makes a request be repeated, and the path that it asks for
   * @param onAnswer called when such a request is repeated no more
   */
  constructor(
    config: KubeConfig,
    closing: AbortSignal,
    onRetry: (error: Error, path: string) => void = () => {},
    onAnswer: () => void = () => {},
  ) {
    this.#config = config
    this.#closing = closing
    this.#onRetry = onRetry
    this.#onAnswer = onAnswer
  }

  /** The API server has done what a request asked for, so that it has taken the credentials. */
  get hasServed(): boolean {
    return this.#hasServed
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
    await unless([404], this.#json('DELETE', path, { body }))
  }
  /** Null: it is not there. */
  find<T>(path: string): Promise<T | null> {
    return unless([404], this.get<T>(path))
  }
  /** The pages of a list, all of one moment. */
  async *pages<T>(path: string, { query, ...request }: ApiRequest = {}): AsyncGenerator<Page<T>> {
    for (let next: string | undefined; ; ) {
      const from = { ...query, limit: PAGE, continue: next }
      const page = await this.get<Page<T> & { readonly items: readonly T[] | null }>(path, { ...request, query: from })
      yield { ...page, items: page.items ?? [] }
      next = page.metadata.continue
      if (!next) return
    }
  }

  /** The first object of a list that fits. Null: there is none. */
  async first<T>(path: string, request: ApiRequest, fits: (one: T) => boolean): Promise<T | null> {
    for (;;) {
      try {
        for await (const { items } of this.pages<T>(path, request)) {
          const found = items.find(fits)
          if (found) return found
        }
        return null
      } catch (error) {
        // The moment that the pages are of is forgotten by now: they are read from the beginning.
        if (!isStatus(error, GONE)) throw error
      }
    }
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
    const failed: Partial<Record<Cause, number>> = {}
    for (let failures = 0; ; failures += 1) {
      try {
        const attempt = AbortSignal.any([ended, AbortSignal.timeout(TIMEOUT_MS)])
        const response = await this.#send(method, path, { ...request, signal: attempt })
        const answer = JSON.parse(await response.body.text()) as T
        if (failures > 0) this.#onAnswer()
        return answer
      } catch (error) {
        ended.throwIfAborted()
        const cause = error instanceof ApiError ? causeOf(error, method, request) : 'OUTAGE'
        const earlier = failed[cause] ?? 0
        failed[cause] = earlier + 1
        const isLast = earlier + 1 >= ATTEMPTS[cause] || failures + 1 >= attempts
        if (error instanceof ApiError && isLast) {
          if (failures > 0) this.#onAnswer()
          throw error
        }
        this.#onRetry(asError(error), path)
        await pause(retryDelay(earlier), ended)
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
    this.#hasServed ||= response.httpStatusCode < 400
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

const INVALID = 'Invalid'
/** `Invalid value: core.PodSpec{…}: field is immutable` without the value, which may be long, or secret. */
const withoutValue = (why: string): string =>
  why.replace(
    /^((?:Invalid|Unsupported|Duplicate) value|Not found|Too long|Too many): (?:.*: (?=[^:{}"]*$)|.*$)/s,
    (all, kind) => (all === why ? kind : ''),
  )

export function errorOf(status: number, text: string): ApiError {
  try {
    const { reason = '', message = '', details } = JSON.parse(text) as V1Status
    const given = details?.causes ?? []
    const causes = given.flatMap((cause) => cause.reason ?? [])
    const fields =
      reason === INVALID
        ? given.flatMap(({ field, message: why = '' }) => (field ? `${field}: ${withoutValue(why)}` : []))
        : []
    return new ApiError(status, reason, message, { causes, fields })
  } catch {
    return new ApiError(status, '', text.slice(0, 500))
  }
}
