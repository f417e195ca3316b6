/** `unauthorized`: the token is missing, invalid or not allowed to connect. `http`: the response was not GraphQL. */
export type ClientErrorKind = 'network' | 'http' | 'graphql' | 'unauthorized'

export interface ClientErrorDetails {
  readonly retryable?: boolean
  /** `extensions.code` of the first GraphQL error, or the code of a refused agent call. */
  readonly code?: string | undefined
  /** HTTP status, or close code of the WebSocket. */
  readonly status?: number | undefined
  /** `extensions` of the first GraphQL error, e.g. `oldest` and `head` of CURSOR_EXPIRED. */
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
}

/** Why a call got no answer. Its text never holds the token. */
export class ClientError extends Error {
  readonly kind: ClientErrorKind
  /** The same call may succeed later, unchanged. */
  readonly retryable: boolean
  readonly code: string | null
  readonly status: number | null
  readonly extensions: Readonly<Record<string, unknown>>
  /** Milliseconds after which the server would take the call again; null: it has not said. */
  readonly retryAfterMs: number | null

  constructor(kind: ClientErrorKind, message: string, details: ClientErrorDetails = {}) {
    super(message)
    this.name = 'ClientError'
    this.kind = kind
    this.retryable = details.retryable ?? kind === 'network'
    this.code = details.code ?? null
    this.status = details.status ?? null
    this.extensions = details.extensions ?? {}
    this.retryAfterMs = retryAfterOf(this.extensions)
  }
}

function retryAfterOf({ retryAfterMs }: Readonly<Record<string, unknown>>): number | null {
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : null
}
/** Waiting longer in one piece is not worthwhile. */
const MAX_RETRY_AFTER_MS = 60_000

interface WireError {
  readonly message: string
  readonly extensions: Readonly<Record<string, unknown>>
}

/** Codes of errors that a repeated call may not meet again; every other one is permanent. */
const RETRYABLE = new Set(['INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE', 'OVERLOADED', 'TIMEOUT', 'RATE_LIMITED'])
const UNAUTHORIZED = new Set(['UNAUTHENTICATED', 'UNAUTHORIZED'])

/** The error of a GraphQL response, from its `errors`; null when there are none. */
export function fromGraphqlErrors(errors: unknown, status?: number): ClientError | null {
  const list = wireErrors(errors)
  const [first] = list
  if (!first) return null
  const { code } = first.extensions
  const text = typeof code === 'string' ? code : undefined
  const kind = text !== undefined && UNAUTHORIZED.has(text) ? 'unauthorized' : 'graphql'
  // Fields that fail for the same reason say the same.
  const message = [...new Set(list.map((error) => error.message))].slice(0, 5).join('; ')
  const retryable =
    (text !== undefined && RETRYABLE.has(text)) ||
    retryAfterOf(first.extensions) !== null ||
    (status !== undefined && isRetryableStatus(status))
  return new ClientError(kind, message, { code: text, status, retryable, extensions: first.extensions })
}

export const isRetryableStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500

function wireErrors(errors: unknown): readonly WireError[] {
  if (!Array.isArray(errors)) return []
  return errors.flatMap((error: unknown) => {
    if (!isRecord(error) || typeof error.message !== 'string') return []
    return [{ message: error.message, extensions: isRecord(error.extensions) ? error.extensions : {} }]
  })
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
