import {
  createServer,
  type ServerOptions as HttpOptions,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { GatewayLimits } from '../../core/gateway-limits.ts'
import type { InFlight } from '../../core/in-flight.ts'
import { isLoopback } from '../../core/loopback.ts'
import type { Logger } from '../../logger.ts'
import { API_PATH, ARTIFACTS_PATH } from '../endpoints/endpoints.ts'
import type { Bounds } from '../limits/bounds.ts'
import type { Drain } from '../limits/drain.ts'
import { OpenConnections, StoppableMessage } from '../limits/open-connections.ts'
import { protect, refuse, replyError, replyText } from '../replies/reply.ts'
import { nameRequest, requestIdIn } from '../replies/request-id.ts'
import type { GraphQLSocket } from '../socket/graphql-socket.ts'
import { refuseBrokenRequests } from './client-errors.ts'
import { grantOrigin } from './cross-origin.ts'
import { checkOrigin, type OriginRules } from './origin-check.ts'
import { strangersTurn } from './strangers-turn.ts'
import { throwAwayRest } from './throw-away.ts'
import { contextOf, STRICT_TRANSPORT, type TlsSource, tlsOptions } from './tls.ts'
import { watchReader } from './watch-reader.ts'

export interface Route {
  /** In the metrics. */
  readonly name: string
  /** JUDGED: it takes turns by itself, of the callers that it finds out. PROBE: it tells of this server's health. */
  readonly turn?: 'JUDGED' | 'PROBE'
  /** Only pages of this server may call: no program, and no page of an origin that may call the API. */
  readonly isForOwnPages?: true
  handle(request: IncomingMessage, response: ServerResponse): Promise<void> | void
}

export interface ListenerOptions {
  /** 0: any free port. */
  readonly port: number
  readonly host: string
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** Null: without encryption. */
  readonly tls: TlsSource | null
  /** For programs only: no page of any origin may call. */
  readonly refusesPages?: true
  /** For callers that do not know the name of this server. */
  readonly allowsAnyHost?: true
  readonly routeOf: (path: string, request: IncomingMessage) => Route | undefined
  /** Called after each response. */
  readonly answered: (route: string, status: number, seconds: number) => void
  readonly bounds: Bounds
  readonly drain: Drain
  /** The requests that run, which may outlive their connections. */
  readonly inFlight: InFlight
  /** Null: no WebSockets. */
  readonly socket: GraphQLSocket | null
  readonly logger: Logger
}

export interface Listener {
  /** e.g. `https://127.0.0.1:4000` */
  readonly url: string
  readonly port: number
  /** Accepts no more connections, and lets requests end; their connections close with them. Sockets must be closed beside it. */
  close(): Promise<void>
}

const IDLE_MS = 20
/**
 * Milliseconds for which connections without a request are left alone when load balancers keep them: they know by then that this
 * server takes nothing more, and what they had sent has arrived.
 */
const SPARED_MS = 7_000

/** One port for HTTP and WebSockets. Resolves once it listens. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { host, port, tls, bounds, inFlight, logger } = options
  const parsing = { ...timeoutsOf(bounds.limits), IncomingMessage: StoppableMessage }
  const http = tls ? createTlsServer({ ...parsing, ...tlsOptions(tls) }) : createServer(parsing)
  if ('setSecureContext' in http) tls?.onChange(() => http.setSecureContext(contextOf(tls.current)))
  refuseBrokenRequests(http, bounds.refusals)
  const open = new OpenResponses()
  const connections = new OpenConnections(bounds)
  http.on('connection', (connection: Socket) => connections.add(connection))
  http.on('secureConnection', (connection: Socket) => connections.add(connection))
  // A server that accepts no more connections does not know it any more.
  let ownPort = 0
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    open.add(response)
    inFlight.track(handle(request, response, { options, port: ownPort })).catch((error: unknown) => {
      logger.error({ err: error, requestId: requestIdIn(response) }, 'a request failed')
      if (response.headersSent) response.destroy()
      else replyError(response, 500, 'INTERNAL_SERVER_ERROR', 'Something went wrong on the server.')
    })
  }
  http.on('request', (request, response) => connections.request(request, response, () => begin(request, response)))
  // Node would request the body at once: the server judges the client first, and requests the body when it reads it.
  http.on('checkContinue', (request, response) => http.emit('request', request, response))
  http.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy())
    // Answers to the requests before it would end up among its messages.
    if (!connections.upgrade(request)) return void stream.destroy()
    const wanted = { request, stream: stream as Socket, head, isLast: () => open.areLast }
    upgrade(wanted, { options, port: ownPort }).catch((error: unknown) => {
      logger.error({ err: error }, 'a WebSocket could not be opened')
      stream.destroy()
    })
  })
  await opened(http, { host, port })
  ownPort = portOf(http)
  const url = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${ownPort}`
  return { url, port: ownPort, close: () => close(http, { open, connections, drain: options.drain }) }
}

/** Milliseconds that a connection without any request gets when a listener closes: browsers open some beforehand. */
const FRESH_MS = 1_000

/** The responses that have not ended. */
class OpenResponses {
  readonly #open = new Set<ServerResponse>()
  /** No request is to follow on their connections. */
  areLast = false

  add(response: ServerResponse): void {
    this.#open.add(response)
    response.once('close', () => this.#open.delete(response))
    if (this.areLast) response.setHeader('connection', 'close')
  }
  /** `connection: close` keeps the client from sending a request to a closed connection. */
  beLast(): void {
    this.areLast = true
    for (const response of this.#open) if (!response.headersSent) response.setHeader('connection', 'close')
  }
}

/** Headers come at once, so they get less time. It begins with their first byte, for a connection without any request before. */
const HEADERS_MS = 10_000
const timeoutsOf = ({ keepAliveMs, requestTimeoutMs }: GatewayLimits): HttpOptions => ({
  keepAliveTimeout: keepAliveMs,
  requestTimeout: requestTimeoutMs,
  headersTimeout: Math.min(HEADERS_MS, requestTimeoutMs),
  connectionsCheckingInterval: Math.min(HEADERS_MS, requestTimeoutMs) / 2,
})

const portOf = (http: Server): number => (http.address() as AddressInfo | null)?.port ?? 0
const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'
const rulesOf = (options: ListenerOptions, port: number): OriginRules => ({
  ...options,
  port,
  isSecure: options.tls !== null,
  allowsPages: options.refusesPages !== true,
  allowsAnyHost: options.allowsAnyHost === true,
})

interface Upgrade {
  readonly request: IncomingMessage
  readonly stream: Socket
  readonly head: Buffer
  /** The server is closing. */
  isLast(): boolean
}
interface Listening {
  readonly options: ListenerOptions
  readonly port: number
}

async function upgrade({ request, stream, head, isLast }: Upgrade, { options, port }: Listening): Promise<void> {
  const { bounds, socket } = options
  await bounds.turns.next(bounds.callers.strangersAt(bounds.callers.addressOf(request)))
  const repeated = repeatedHeader(request)
  if (repeated !== null) return refuseUpgrade(stream, 400, repeated)
  const verdict = checkOrigin(request.headers, rulesOf(options, port))
  if (!verdict.ok) {
    bounds.refusals.count('FORBIDDEN')
    return refuseUpgrade(stream, 403, verdict.message)
  }
  if (!socket || pathOf(request) !== API_PATH) return refuseUpgrade(stream, 404, 'WebSockets are at /graphql.')
  if (isLast()) return refuseUpgrade(stream, 503, 'This server is shutting down: connect to another one.')
  socket.upgrade(request, stream, head)
}

async function handle(request: IncomingMessage, response: ServerResponse, { options, port }: Listening): Promise<void> {
  const { bounds, tls, routeOf, answered } = options
  const started = performance.now()
  const path = pathOf(request)
  const route = routeOf(path, request)
  response.once('close', () => {
    answered(route?.name ?? 'other', response.statusCode, (performance.now() - started) / 1_000)
  })
  throwAwayRest(request, response, bounds)
  protect(response)
  // A developer's other servers on this machine have the same name, and no certificate.
  if (tls && !isLoopback(hostNameOf(request))) response.setHeader(...STRICT_TRANSPORT)
  nameRequest(request, response)
  const repeated = repeatedHeader(request)
  const verdict = checkOrigin(request.headers, rulesOf(options, port))
  const isSound = repeated === null && verdict.ok
  if (!(await turnOf(request, response, bounds, isSound ? route?.turn : undefined))) return
  if (repeated !== null) {
    // It is not certain what else a proxy in between has made of this connection.
    response.setHeader('connection', 'close')
    return replyError(response, 400, 'BAD_REQUEST', repeated)
  }
  if (!verdict.ok) return refuse(response, bounds.refusals, 403, 'FORBIDDEN', verdict.message)
  if (!route) return replyText(response, 404, 'Not found.')
  if (route.isForOwnPages && !isOwnPage(request.headers, verdict.granted))
    return refuse(response, bounds.refusals, 403, 'FORBIDDEN', FOR_OWN_PAGES)
  const isApi = path === API_PATH || path.startsWith(ARTIFACTS_PATH)
  if (verdict.granted !== null && isApi && grantOrigin(request, response, verdict.granted)) return
  await route.handle(request, response)
  if (response.writableLength > 0 && !response.destroyed) watchReader(response, bounds)
}

/**
 * Behind a proxy that replaces `Host`, a page of this server seems to be of another origin, which is allowed then. There the browser
 * decides, whose `Sec-Fetch-Site` no page can set.
 */
const isOwnPage = (headers: IncomingHttpHeaders, granted: string | null): boolean =>
  headers.origin !== undefined && (granted === null || headers['sec-fetch-site'] === 'same-origin')
const FOR_OWN_PAGES =
  'Only pages of this server call here; programs send their token as Authorization: Bearer … with each request.'

/** False: the client has gone meanwhile. */
async function turnOf(
  request: IncomingMessage,
  response: ServerResponse,
  bounds: Bounds,
  turn: Route['turn'],
): Promise<boolean> {
  if (turn === 'JUDGED' && request.method !== 'OPTIONS') return true
  if (turn !== 'PROBE') return await strangersTurn(request, response, bounds)
  const { callers, turns } = bounds
  await turns.next(callers.probesAt(callers.addressOf(request)))
  return !response.destroyed
}

/** Node takes the first of several and says nothing, where a proxy may have judged by the last. */
const SINGLE = ['host', 'authorization', 'content-type']

/** Why a request is ambiguous; null: it is not. */
function repeatedHeader({ rawHeaders }: IncomingMessage): string | null {
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
  const repeated = SINGLE.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  return repeated === undefined ? null : `The header ${repeated} is there more than once.`
}

const hostNameOf = ({ headers }: IncomingMessage): string => (headers.host ?? '').replace(/:\d+$/, '')

function refuseUpgrade(stream: Duplex, status: number, message: string): void {
  const text = `${message}\n`
  // A client that keeps its side open would hold the connection for ever.
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n` +
      `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    () => stream.destroy(),
  )
}

function opened(http: Server, { port, host }: { readonly port: number; readonly host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, () => {
      http.off('error', reject)
      resolve()
    })
  })
}

type HttpServer = ReturnType<typeof createServer> | ReturnType<typeof createTlsServer>

interface Closing {
  readonly open: OpenResponses
  readonly connections: OpenConnections
  readonly drain: Drain
}

async function close(http: HttpServer, { open, connections, drain }: Closing): Promise<void> {
  open.beLast()
  const { sparesIdleConnections, remainingMs } = drain
  const closed = new Promise<void>((resolve) => {
    // The close of an HTTP server would close idle connections at once, too, and meet requests that are on their way.
    if (sparesIdleConnections) Server.prototype.close.call(http, () => resolve())
    else http.close(() => resolve())
  })
  // Connections with a response on its way become idle a moment later.
  let idle: NodeJS.Timeout | undefined
  const sparing = setTimeout(
    () => {
      idle = setInterval(() => http.closeIdleConnections(), IDLE_MS)
    },
    sparesIdleConnections ? SPARED_MS : 0,
  )
  const unused = setTimeout(
    () => connections.endUnused(),
    Math.min(sparesIdleConnections ? SPARED_MS : FRESH_MS, remainingMs),
  )
  const late = setTimeout(() => {
    http.closeAllConnections()
    connections.endAll()
  }, remainingMs)
  await closed
  clearTimeout(unused)
  clearTimeout(late)
  clearTimeout(sparing)
  clearInterval(idle)
}
