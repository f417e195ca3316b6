/** Why a gateway has refused a client, or has cut it off, and what counts as that. */
export const REFUSALS = {
  UNAUTHENTICATED: 'requests and sockets without a valid token',
  SERVICE_UNAVAILABLE: 'requests that need a database, or the issuer of a token, which is not available',
  FORBIDDEN: 'requests of other origins or for other hosts, and those for metrics without the role for it',
  BAD_USER_INPUT: 'requests with keys or texts that are too long',
  DOCUMENT_NOT_TRUSTED: 'documents that the operator does not know, where only such are run',
  PERSISTED_QUERY_NOT_FOUND: 'ids of documents that the server does not know',
  PERSISTED_QUERY_NOT_SUPPORTED: 'hashes of documents that a client would have the server learn',
  TOO_LARGE: 'bodies and messages with too many bytes',
  TOO_COMPLEX: 'bodies, messages and documents with too many values, nested too deep, or too expensive',
  ANSWER_TOO_LARGE: 'answers with too many bytes',
  RATE_LIMITED: 'requests of a principal or an address that has sent too many lately',
  TOO_MANY:
    'operations, subscriptions and bytes of requests beyond those that a caller has at a time; by a connection, requests that it sends without waiting for answers; by a socket, messages that it sends faster than they are read',
  TOO_MANY_CONNECTIONS: 'connections beyond the limits: those that are idle for longest are closed',
  TOO_MANY_SOCKETS: 'sockets beyond the limits, closed with 1013',
  INIT_TIMEOUT: 'sockets without a `connection_init` in time, closed with 4408',
  REQUEST_TIMEOUT: 'HTTP requests that took too long to arrive, answered with 408',
  TIMEOUT: 'queries that took too long',
  TOO_SLOW: 'clients that read nothing for too long, or for which too much waits',
} as const
export type RefusalReason = keyof typeof REFUSALS
export const isRefusalReason = (code: unknown): code is RefusalReason =>
  typeof code === 'string' && Object.hasOwn(REFUSALS, code)

/** Counts since the start of the process, for metrics. */
export class Refusals {
  readonly #counts = new Map(Object.keys(REFUSALS).map((reason) => [reason as RefusalReason, new Map([['', 0]])]))

  /** `share`: whose share is used up, such as `principal`; empty where that is not the reason. */
  count(reason: RefusalReason, share = ''): void {
    const counts = this.#counts.get(reason)
    counts?.set(share, (counts.get(share) ?? 0) + 1)
  }
  get counts(): ReadonlyMap<RefusalReason, ReadonlyMap<string, number>> {
    return this.#counts
  }
}
