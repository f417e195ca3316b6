import { createServer, type ServerOptions as HttpOptions, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { GatewayLimits } from '../core/gateway-limits.ts'
import { isLoopback } from '../core/loopback.ts'
import type { Logger } from '../logger.ts'
import { refuseBrokenRequests } from './client-errors.ts'
import { grantOrigin } from './cross-origin.ts'
import type { GraphQLSocket } from './graphql-socket.ts'
import { checkOrigin, type OriginRules } from './origin-check.ts'
import { protect, refuse, replyError, replyText } from './reply.ts'
import { nameRequest, requestIdIn } from './request-id.ts'
import { API_PATH, type RouteParts, routeOf } from './routes.ts'
import { contextOf, STRICT_TRANSPORT, type TlsSource, tlsOptions } from './tls.ts'
import { watchReader } from './watch-reader.ts'

export interface ListenerOptions {
  /** 0: any free port. */
  readonly port: number
  readonly host: string
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** Null: without encryption. */
  readonly tls: TlsSource | null
  /** Nothing but `/graphql` for programs: no page of any origin. */
  readonly isApiOnly?: true
  readonly parts: RouteParts
  readonly socket: GraphQLSocket
  readonly logger: Logger
}

export interface Listener {
  /** e.g. `https://127.0.0.1:4000` */
  readonly url: string
  readonly port: number
  /** Accepts no more connections, and lets requests end. Sockets must have been closed. */
  close(): Promise<void>
}

/** Milliseconds that running requests get when a listener closes. */
const DRAIN_MS = 5_000
const IDLE_MS = 20

/** One port for HTTP and WebSockets. Resolves once it listens. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { host, port, tls, parts, socket, logger } = options
  const timeouts = timeoutsOf(parts.limits)
  const http = tls ? createTlsServer({ ...timeouts, ...tlsOptions(tls) }) : createServer(timeouts)
  if ('setSecureContext' in http) tls?.onChange(() => http.setSecureContext(contextOf(tls.current)))
  refuseBrokenRequests(http, parts.refusals)
  http.on('request', (request, response) => {
    handle(request, response, { options, port: portOf(http) }).catch((error: unknown) => {
      logger.error({ err: error, requestId: requestIdIn(response) }, 'a request failed')
      if (response.headersSent) response.destroy()
      else replyError(response, 500, 'INTERNAL_SERVER_ERROR', 'Something went wrong on the server.')
    })
  })
  http.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy())
    const verdict = checkOrigin(request.headers, rulesOf(options, portOf(http)))
    if (!verdict.ok) {
      parts.refusals.count('FORBIDDEN')
      return refuseUpgrade(stream, 403, verdict.message)
    }
    if (pathOf(request) !== API_PATH) return refuseUpgrade(stream, 404, 'WebSockets are at /graphql.')
    socket.upgrade(request, stream as Socket, head)
  })
  await opened(http, { host, port })
  const url = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${portOf(http)}`
  return { url, port: portOf(http), close: () => drain(http) }
}

/** Headers come at once, so they get less time. */
const HEADERS_MS = 10_000
const timeoutsOf = ({ requestTimeoutMs }: GatewayLimits): HttpOptions => ({
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
  allowsPages: options.isApiOnly !== true,
})

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { options, port }: { readonly options: ListenerOptions; readonly port: number },
): Promise<void> {
  const { parts, tls, isApiOnly } = options
  const started = performance.now()
  const path = pathOf(request)
  const route = isApiOnly && path !== API_PATH ? undefined : routeOf(path, request, parts.dashboard)
  response.once('close', () => {
    parts.metrics.answered(route?.name ?? 'other', response.statusCode, (performance.now() - started) / 1_000)
  })
  protect(response)
  // A developer's other servers on this machine have the same name, and no certificate.
  if (tls && !isLoopback(hostNameOf(request))) response.setHeader(...STRICT_TRANSPORT)
  nameRequest(request, response)
  const verdict = checkOrigin(request.headers, rulesOf(options, port))
  if (!verdict.ok) return refuse(response, parts.refusals, 403, 'FORBIDDEN', verdict.message)
  if (!route) return replyText(response, 404, 'Not found.')
  if (verdict.granted !== null && path === API_PATH && grantOrigin(request, response, verdict.granted)) return
  await route.handle(request, response, parts)
  if (response.writableLength > 0 && !response.destroyed) watchReader(response, parts)
}

const hostNameOf = ({ headers }: IncomingMessage): string => (headers.host ?? '').replace(/:\d+$/, '')

function refuseUpgrade(stream: Duplex, status: number, message: string): void {
  const text = `${message}\n`
  stream.end(
    `HTTP/1.1 ${status} ${status === 403 ? 'Forbidden' : 'Not Found'}\r\nconnection: close\r\n` +
      `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
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

async function drain(http: ReturnType<typeof createServer> | ReturnType<typeof createTlsServer>): Promise<void> {
  const closed = new Promise<void>((resolve) => http.close(() => resolve()))
  // Connections with a response on its way become idle a moment later.
  const idle = setInterval(() => http.closeIdleConnections(), IDLE_MS)
  const late = setTimeout(() => http.closeAllConnections(), DRAIN_MS)
  await closed
  clearTimeout(late)
  clearInterval(idle)
}
