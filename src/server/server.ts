import {
  createServer as createHttpServer,
  type ServerOptions as HttpOptions,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { GraphQLSchema } from 'graphql'
import type { GatewayLimits } from '../core/gateway-limits.ts'
import type { Login } from '../core/ports/login.ts'
import type { GraphQLServices } from '../graphql/resolver-context.ts'
import type { Logger } from '../logger.ts'
import { createBounds } from './bounds.ts'
import { refuseBrokenRequests } from './client-errors.ts'
import { Connections } from './connections.ts'
import { grantOrigin } from './cross-origin.ts'
import { loadDashboard } from './dashboard.ts'
import type { Disclosure } from './disclosure.ts'
import { createGraphQLSocket } from './graphql-socket.ts'
import { mask } from './mask.ts'
import { createMetrics, type MeasuredClock } from './metrics.ts'
import { checkOrigin, type OriginRules } from './origin-check.ts'
import { protect, refuse, replyError, replyText } from './reply.ts'
import { nameRequest, requestIdIn } from './request-id.ts'
import { type RouteParts, routeOf } from './routes.ts'
import { FanOut } from './streams/fan-out.ts'
import { createSubscribe } from './streams/subscribe.ts'
import { TrustedDocuments, type TrustedDocumentsOptions } from './trusted-documents.ts'
import { watchReader } from './watch-reader.ts'
import { createGraphQL } from './yoga.ts'

export interface ServerOptions {
  readonly config: {
    /** 0: any free port. */
    readonly port: number
    readonly host: string
    readonly allowedHosts: readonly string[]
    readonly allowedOrigins: readonly string[]
    /** Addresses and networks of proxies whose X-Forwarded-For counts. */
    readonly trustedProxies?: readonly string[]
    readonly limits?: Partial<GatewayLimits>
    /** Absent: all that it can tell. */
    readonly disclosure?: Disclosure
  }
  readonly schema: GraphQLSchema
  readonly services: GraphQLServices
  readonly logger: Logger
  /** Absent: none, and none is required. */
  readonly documents?: TrustedDocumentsOptions
  /** The built dashboard; by default none is served. */
  readonly dashboardFolder?: string
  /** How people sign in at the moment; by default with tokens only. */
  readonly logins?: () => readonly Login[]
  /** Measured when given. */
  readonly clock?: MeasuredClock
}

export interface RunningServer extends AsyncDisposable {
  /** e.g. `http://127.0.0.1:4000` */
  readonly url: string
  readonly port: number
  /** Accepts no more connections, closes streams with SERVICE_RESTART, lets requests end, and closes. */
  close(): Promise<void>
}

const API_PATH = '/graphql'
/** Milliseconds that running requests get when the server closes. */
const DRAIN_MS = 5_000
/** Milliseconds in which the database must answer for the server to be ready. */
const READY_WITHIN_MS = 2_000
const IDLE_MS = 20

/** One port for pages, GraphQL over HTTP, events and WebSockets, health and metrics. Resolves once it listens. */
export async function createServer(options: ServerOptions): Promise<RunningServer> {
  const { config, schema, services, logger, dashboardFolder, clock, logins = () => [] } = options
  const { tokens, audit, pool, log, system, streams } = services
  const bounds = createBounds(config.limits, config.trustedProxies)
  const connections = new Connections(tokens)
  const trusted = new TrustedDocuments(options.documents ?? { texts: [], hashes: [], isRequired: false })
  const { disclosure = { introspection: true, suggestions: true } } = config
  const yoga = createGraphQL(schema, services, { bounds, trusted, disclosure })
  const shared = { schema, log, system, open: streams, mask: (error: unknown) => mask(error, logger) }
  const fanOut = new FanOut(shared)
  const subscribe = createSubscribe({ ...shared, fanOut, hideSuggestions: !disclosure.suggestions })
  const common = { ...bounds, trusted, schema, yoga, subscribe, tokens, audit, connections }
  const socket = createGraphQLSocket({ ...common, system, logger })
  const metrics = createMetrics({ ...bounds, socket, fanOut, log, open: streams, agents: services.agents, clock })
  let closing: Promise<void> | undefined
  const isReady = async () => closing === undefined && (await answers(pool))
  const dashboard = dashboardFolder === undefined ? null : await loadDashboard(dashboardFolder)
  const http = createHttpServer(timeoutsOf(bounds.limits))
  refuseBrokenRequests(http, bounds.refusals)
  const rules: OriginRules = {
    ...config,
    get port() {
      return portOf(http)
    },
  }
  const url = () => `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${portOf(http)}`
  const parts: RouteParts = { ...common, metrics, isReady, url, dashboard, logins }

  http.on('request', (request, response) => {
    handle(request, response, { parts, rules }).catch((error: unknown) => {
      logger.error({ err: error, requestId: requestIdIn(response) }, 'a request failed')
      if (response.headersSent) response.destroy()
      else replyError(response, 500, 'INTERNAL_SERVER_ERROR', 'Something went wrong on the server.')
    })
  })
  http.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy())
    const verdict = checkOrigin(request.headers, rules)
    if (!verdict.ok) {
      bounds.refusals.count('FORBIDDEN')
      return refuseUpgrade(stream, 403, verdict.message)
    }
    if (pathOf(request) !== API_PATH) return refuseUpgrade(stream, 404, 'WebSockets are at /graphql.')
    socket.upgrade(request, stream as Socket, head)
  })
  await listen(http, config)

  const close = (): Promise<void> => {
    closing ??= (async () => {
      const closed = new Promise<void>((resolve) => http.close(() => resolve()))
      services.agents.stopWaiting()
      await socket.close()
      connections.endStreams()
      // Connections with a response on its way become idle a moment later.
      const idle = setInterval(() => http.closeIdleConnections(), IDLE_MS)
      const late = setTimeout(() => http.closeAllConnections(), DRAIN_MS)
      await closed
      clearTimeout(late)
      clearInterval(idle)
      connections[Symbol.dispose]()
    })()
    return closing
  }
  return { url: url(), port: portOf(http), close, [Symbol.asyncDispose]: close }
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

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { parts, rules }: { readonly parts: RouteParts; readonly rules: OriginRules },
): Promise<void> {
  const started = performance.now()
  const path = pathOf(request)
  const route = routeOf(path, request, parts.dashboard)
  response.once('close', () => {
    parts.metrics.answered(route?.name ?? 'other', response.statusCode, (performance.now() - started) / 1_000)
  })
  protect(response)
  nameRequest(request, response)
  const verdict = checkOrigin(request.headers, rules)
  if (!verdict.ok) return refuse(response, parts.refusals, 403, 'FORBIDDEN', verdict.message)
  if (!route) return replyText(response, 404, 'Not found.')
  if (verdict.granted !== null && path === API_PATH && grantOrigin(request, response, verdict.granted)) return
  await route.handle(request, response, parts)
  if (response.writableLength > 0 && !response.destroyed) watchReader(response, parts)
}

function refuseUpgrade(stream: Duplex, status: number, message: string): void {
  const text = `${message}\n`
  stream.end(
    `HTTP/1.1 ${status} ${status === 403 ? 'Forbidden' : 'Not Found'}\r\nconnection: close\r\n` +
      `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
}

function listen(http: Server, { port, host }: { readonly port: number; readonly host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, () => {
      http.off('error', reject)
      resolve()
    })
  })
}

async function answers(pool: GraphQLServices['pool']): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), READY_WITHIN_MS)
  const answered = pool.query('select 1').then(
    () => true,
    () => false,
  )
  const ready = await Promise.race([answered, late.promise])
  clearTimeout(timer)
  return ready
}
