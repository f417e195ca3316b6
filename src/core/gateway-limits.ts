/** A bound that an operator may change, and the setting of the environment that does. */
export interface LimitSetting {
  readonly setting: string
  readonly byDefault: number
  readonly least: number
  readonly most: number
}

const KIB = 1_024
const MIB = 1_024 * KIB
const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** Limits on what clients may cost one gateway. */
export const GATEWAY_LIMITS = {
  /** Connections at a time, WebSockets among them; fewer where the process may not open as many files. */
  connections: { setting: 'PHASELINE_MAX_CONNECTIONS', byDefault: 20_000, least: 16, most: 1_000_000 },
  /** Connections of one address between two requests. */
  idleConnectionsPerAddress: {
    setting: 'PHASELINE_MAX_IDLE_CONNECTIONS_PER_ADDRESS',
    byDefault: 2_048,
    least: 1,
    most: 1_000_000,
  },
  /** WebSockets at a time. */
  sockets: { setting: 'PHASELINE_MAX_SOCKETS', byDefault: 10_000, least: 1, most: 1_000_000 },
  /** WebSockets that have not sent a valid token yet; part of the above. */
  unauthenticatedSockets: {
    setting: 'PHASELINE_MAX_UNAUTHENTICATED_SOCKETS',
    byDefault: 1_024,
    least: 1,
    most: 1_000_000,
  },
  unauthenticatedSocketsPerAddress: {
    setting: 'PHASELINE_MAX_UNAUTHENTICATED_SOCKETS_PER_ADDRESS',
    byDefault: 512,
    least: 1,
    most: 1_000_000,
  },
  /** Requests of one principal, across its tokens. A burst may use five seconds' worth at once. */
  requestsPerSecondPerPrincipal: {
    setting: 'PHASELINE_MAX_REQUESTS_PER_SECOND_PER_PRINCIPAL',
    byDefault: 2_000,
    least: 1,
    most: 1_000_000,
  },
  requestsPerSecondPerAddress: {
    setting: 'PHASELINE_MAX_REQUESTS_PER_SECOND_PER_ADDRESS',
    byDefault: 5_000,
    least: 1,
    most: 1_000_000,
  },
  /** Deliveries to one hook, from all addresses. Each that is authentic is kept, so they are fewer than requests. */
  deliveriesPerSecondPerHook: {
    setting: 'PHASELINE_MAX_DELIVERIES_PER_SECOND_PER_HOOK',
    byDefault: 50,
    least: 1,
    most: 1_000_000,
  },
  /** Queries and mutations at a time; a claim that waits is one. */
  openOperationsPerPrincipal: {
    setting: 'PHASELINE_MAX_OPERATIONS_PER_PRINCIPAL',
    byDefault: 1_000,
    least: 1,
    most: 1_000_000,
  },
  openOperationsPerAddress: {
    setting: 'PHASELINE_MAX_OPERATIONS_PER_ADDRESS',
    byDefault: 2_000,
    least: 1,
    most: 1_000_000,
  },
  openSubscriptionsPerPrincipal: {
    setting: 'PHASELINE_MAX_SUBSCRIPTIONS_PER_PRINCIPAL',
    byDefault: 10_000,
    least: 1,
    most: 1_000_000,
  },
  /** Subscriptions at a time that differ in their document, their variables or the caller's rights, and follow the same tree, object, project or none. */
  differentSubscriptionsPerPrincipal: {
    setting: 'PHASELINE_MAX_DIFFERENT_SUBSCRIPTIONS_PER_PRINCIPAL',
    byDefault: 100,
    least: 1,
    most: 1_000_000,
  },
  openSubscriptionsPerAddress: {
    setting: 'PHASELINE_MAX_SUBSCRIPTIONS_PER_ADDRESS',
    byDefault: 20_000,
    least: 1,
    most: 1_000_000,
  },
  openSocketsPerPrincipal: {
    setting: 'PHASELINE_MAX_SOCKETS_PER_PRINCIPAL',
    byDefault: 8_000,
    least: 1,
    most: 1_000_000,
  },
  openSocketsPerAddress: {
    setting: 'PHASELINE_MAX_SOCKETS_PER_ADDRESS',
    byDefault: 8_000,
    least: 1,
    most: 1_000_000,
  },
  /** Bytes of requests that arrive or are being answered. */
  requestBytesPerPrincipal: {
    setting: 'PHASELINE_MAX_REQUEST_BYTES_PER_PRINCIPAL',
    byDefault: 32 * MIB,
    least: 16 * MIB,
    most: 64 * 1_024 * MIB,
  },
  requestBytesPerAddress: {
    setting: 'PHASELINE_MAX_REQUEST_BYTES_PER_ADDRESS',
    byDefault: 64 * MIB,
    least: 16 * MIB,
    most: 64 * 1_024 * MIB,
  },
  /** Bytes that a WebSocket may send before its token is accepted. */
  unauthenticatedBytes: {
    setting: 'PHASELINE_MAX_UNAUTHENTICATED_BYTES',
    byDefault: 64 * KIB,
    least: KIB,
    most: 16 * MIB,
  },
  /** Milliseconds from the handshake of a WebSocket to its connection_init. */
  initTimeoutMs: { setting: 'PHASELINE_INIT_TIMEOUT_MS', byDefault: 5 * SECOND, least: 10, most: 60 * SECOND },
  /** Milliseconds from the first byte of an HTTP request to its last. */
  requestTimeoutMs: { setting: 'PHASELINE_REQUEST_TIMEOUT_MS', byDefault: 60 * SECOND, least: 100, most: HOUR },
  /**
   * Milliseconds for which a connection may be idle between two requests. Longer than proxies keep theirs (60 s, mostly): whoever
   * closes first may meet the other's next request.
   */
  keepAliveMs: { setting: 'PHASELINE_KEEP_ALIVE_MS', byDefault: 75 * SECOND, least: SECOND, most: HOUR },
  /** Milliseconds of a query, and of each statement that a gateway sends for one. */
  operationTimeoutMs: { setting: 'PHASELINE_OPERATION_TIMEOUT_MS', byDefault: 30 * SECOND, least: 10, most: HOUR },
  /** Values in the arrays and objects of a request, each of which costs time and memory of the parser. */
  jsonValues: { setting: 'PHASELINE_MAX_JSON_VALUES', byDefault: 1_000_000, least: KIB, most: 50_000_000 },
  /** Bytes of one answer. */
  answerBytes: { setting: 'PHASELINE_MAX_ANSWER_BYTES', byDefault: 32 * MIB, least: 64 * KIB, most: 256 * MIB },
  /** Bytes that wait for all clients together, because they read slower than they are answered. */
  unreadBytes: { setting: 'PHASELINE_MAX_UNREAD_BYTES', byDefault: 256 * MIB, least: MIB, most: 64 * 1_024 * MIB },
  /** Milliseconds for which a client may read nothing of what waits for it. */
  stalledAfterMs: { setting: 'PHASELINE_STALLED_AFTER_MS', byDefault: 30 * SECOND, least: 100, most: HOUR },
} as const satisfies Readonly<Record<string, LimitSetting>>

export type GatewayLimits = Readonly<Record<keyof typeof GATEWAY_LIMITS, number>>

export const DEFAULT_LIMITS = Object.fromEntries(
  Object.entries(GATEWAY_LIMITS).map(([name, { byDefault }]) => [name, byDefault]),
) as GatewayLimits
