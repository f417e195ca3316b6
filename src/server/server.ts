import type { GraphQLSchema } from 'graphql'
import type { GatewayLimits } from '../core/gateway-limits.ts'
import { InFlight } from '../core/in-flight.ts'
import type { ArtifactPort } from '../core/ports/artifacts.ts'
import type { HookPort } from '../core/ports/hooks.ts'
import type { Login } from '../core/ports/login.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Secret } from '../core/secret.ts'
import { instanceHealth } from '../graphql/health/instance-health.ts'
import type { GraphQLServices } from '../graphql/resolver-context.ts'
import type { Logger } from '../logger.ts'
import { tokensOf } from './auth/agent-tokens.ts'
import { API_PATH, ARTIFACTS_PATH } from './endpoints/endpoints.ts'
import { listen } from './http/listener.ts'
import { routeOf } from './http/routes.ts'
import type { TlsSource } from './http/tls.ts'
import { createBounds } from './limits/bounds.ts'
import { Callers } from './limits/callers.ts'
import { Connections } from './limits/connections.ts'
import { Drain } from './limits/drain.ts'
import type { ExecutedOperation } from './operation/count-operations.ts'
import type { Disclosure } from './operation/disclosure.ts'
import { createDocumentCache } from './operation/document-cache.ts'
import { mask } from './operation/mask.ts'
import { TrustedDocuments, type TrustedDocumentsOptions } from './operation/trusted-documents.ts'
import { createGraphQL } from './operation/yoga.ts'
import type { MeasuredWork } from './operators/measure-work.ts'
import { createMetrics, type MeasuredClock, type Metrics } from './operators/metrics.ts'
import { Readiness } from './operators/readiness.ts'
import { loadDashboard } from './pages/dashboard.ts'
import { loadDescriptions } from './pages/descriptions.ts'
import { loadDocumentation } from './pages/documentation.ts'
import { createGraphQLSocket } from './socket/graphql-socket.ts'
import { FanOut } from './streams/fan-out.ts'
import { createSubscribe } from './streams/subscribe.ts'

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
    /** Absent: everything. */
    readonly disclosure?: Disclosure
  }
  readonly schema: GraphQLSchema
  readonly services: GraphQLServices
  readonly artifacts: ArtifactPort
  /** The hooks that others post to. Absent: none. */
  readonly hooks?: HookPort
  readonly logger: Logger
  /** Absent: none, and none is required. */
  readonly documents?: TrustedDocumentsOptions
  /** The built dashboard; by default none is served. */
  readonly dashboardFolder?: string
  /** The built documentation; by default none is served. */
  readonly documentationFolder?: string
  /** The folder of openapi.json and asyncapi.json; by default none is served. */
  readonly descriptionsFolder?: string
  /** The present ways to sign in; by default with tokens only. */
  readonly logins?: () => readonly Login[]
  /** Measured when given. */
  readonly clock?: MeasuredClock
  readonly work?: MeasuredWork
  /** Lets Prometheus read the metrics, without a look into the database. */
  readonly metricsToken?: Secret | undefined
  /** Absent: without encryption. */
  readonly tls?: TlsSource | null
  /** A port of its own, without encryption and on loopback, for these callers alone. Absent: none. */
  readonly loopback?: { readonly port: number; accepts(viewer: Viewer): boolean } | null
  /** Readiness and shutdown. Absent: it is always ready, and stops without notice. */
  readonly readiness?: Readiness
  readonly drain?: Drain
  /** Takes the requests and operations, which may outlive their connections. Absent: nobody waits for those. */
  readonly inFlight?: InFlight
}

export interface RunningServer extends AsyncDisposable {
  /** e.g. `http://127.0.0.1:4000` */
  readonly url: string
  readonly port: number
  /** The URL of the port on loopback; null: there is none. */
  readonly loopbackUrl: string | null
  /** For another port. */
  readonly metrics: Metrics
  /** Accepts no more connections, closes streams with SERVICE_RESTART, lets requests end, and closes. */
  close(): Promise<void>
}

/** One port for pages, GraphQL over HTTP, events and WebSockets, health and metrics. Resolves once it listens. */
export async function createServer(options: ServerOptions): Promise<RunningServer> {
  const {
    config,
    schema,
    services,
    artifacts,
    hooks = null,
    logger,
    dashboardFolder,
    documentationFolder,
    descriptionsFolder,
    clock,
  } = options
  const { logins = () => [], tls = null } = options
  const { tokens, audit, log, system, streams } = services
  const { drain = new Drain(), readiness = readyAsSoonAsItListens(drain) } = options
  const bounds = createBounds(config.limits, config.trustedProxies)
  const connections = new Connections(tokens)
  const trusted = new TrustedDocuments(options.documents ?? { texts: [], hashes: [], isRequired: false })
  const { disclosure = { introspection: true, suggestions: true } } = config
  const executed = (operation: ExecutedOperation) => metrics.executed(operation)
  const documents = createDocumentCache()
  const yoga = createGraphQL(schema, services, { bounds, trusted, documents, disclosure, executed })
  const shared = { schema, log, system, open: streams, mask: (error: unknown) => mask(error, logger) }
  const fanOut = new FanOut({ ...bounds, ...shared })
  const subscribe = createSubscribe({ ...shared, fanOut, hideSuggestions: !disclosure.suggestions })
  const { inFlight = new InFlight() } = options
  const common = { ...bounds, ...shared, trusted, documents, yoga, subscribe, tokens, audit, connections, inFlight }
  const socket = createGraphQLSocket({ ...common, system, drain, logger })
  const { loopback } = options
  // Agents of this machine share no address with whoever else calls from it.
  const callers = new Callers(bounds.limits)
  const ofAgents = loopback && { ...common, callers, tokens: tokensOf(tokens, loopback.accepts) }
  const agentSocket = ofAgents && createGraphQLSocket({ ...ofAgents, system, drain, logger })
  const sockets = [socket, ...(agentSocket ? [agentSocket] : [])]
  const health = instanceHealth(services)
  const gateway = { unread: bounds.unread, sockets, fanOut, open: streams, artifacts, hooks, health }
  const { work, metricsToken } = options
  const { agents, replica } = services
  const reads = replica?.counts
  const metrics = createMetrics({ refusals: bounds.refusals, log, agents, clock, work, reads, gateway })
  let closing: Promise<void> | undefined
  const dashboard = dashboardFolder === undefined ? null : await loadDashboard(dashboardFolder)
  const documentation = documentationFolder === undefined ? null : await loadDocumentation(documentationFolder)
  const descriptions = await loadDescriptions(descriptionsFolder)
  const shown = { dashboard, documentation, descriptions, logins }
  const parts = { ...common, ...shown, artifacts, hooks, metrics, metricsToken, readiness }
  const listening = { bounds, drain, inFlight, answered: metrics.answered, logger }
  const internal =
    loopback && ofAgents && agentSocket
      ? await listen({
          ...{
            host: LOOPBACK,
            port: loopback.port,
            allowedHosts: [],
            allowedOrigins: [],
            tls: null,
            refusesPages: true,
          },
          ...{ ...listening, socket: agentSocket },
          routeOf: (path, request) =>
            path === API_PATH || path.startsWith(ARTIFACTS_PATH)
              ? routeOf(path, request, { ...parts, ...ofAgents })
              : undefined,
        })
      : null
  const main = await listen({
    ...{ ...config, ...listening, tls, socket },
    routeOf: (path, request) => routeOf(path, request, parts),
  }).catch(async (error: unknown) => {
    await internal?.close()
    throw error
  })
  const listeners = [main, ...(internal ? [internal] : [])]

  const close = (): Promise<void> => {
    closing ??= (async () => {
      const drained = listeners.map((listener) => listener.close())
      services.agents.stopWaiting()
      connections.endStreams()
      // Ends streams that were about to begin.
      const late = setInterval(() => connections.endStreams(), END_MS)
      await Promise.all([...sockets.map((each) => each.close()), ...drained])
      clearInterval(late)
      connections[Symbol.dispose]()
    })()
    return closing
  }
  const { url, port } = main
  return { url, port, loopbackUrl: internal?.url ?? null, metrics, close, [Symbol.asyncDispose]: close }
}

const LOOPBACK = '127.0.0.1'

/** Milliseconds. */
const END_MS = 100

function readyAsSoonAsItListens(drain: Drain): Readiness {
  const readiness = new Readiness(drain)
  readiness.started(() => Promise.resolve([]))
  return readiness
}
