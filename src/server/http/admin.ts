import type { GatewayLimits } from '../../core/gateway-limits.ts'
import { InFlight } from '../../core/in-flight.ts'
import type { Secret } from '../../core/secret.ts'
import type { Logger } from '../../logger.ts'
import type { TokenParts } from '../auth/check-token.ts'
import { createBounds } from '../limits/bounds.ts'
import { Drain } from '../limits/drain.ts'
import type { Refusals } from '../limits/refusals.ts'
import { probeOf } from '../operators/health-routes.ts'
import type { Metrics } from '../operators/metrics.ts'
import { showMetrics } from '../operators/metrics-route.ts'
import type { Readiness } from '../operators/readiness.ts'
import { replyText } from '../replies/reply.ts'
import { listen, type Route } from './listener.ts'

export interface AdminOptions {
  /** 0: any free port. */
  readonly port: number
  readonly host: string
  readonly limits: Partial<GatewayLimits>
  readonly trustedProxies: readonly string[]
  readonly readiness: Readiness
  readonly metricsToken: Secret | undefined
  readonly logger: Logger
}

/** The port for operators, of a process with any role: health and metrics, and nothing else. */
export interface AdminServer extends AsyncDisposable {
  /** e.g. http://127.0.0.1:9090 */
  readonly url: string
  /** Refusals of this port. */
  readonly refusals: Refusals
  /** Shows these metrics from now on, to whom the tokens let; before, the process is starting. */
  show(metrics: Metrics, access: Pick<TokenParts, 'tokens' | 'audit'>): void
}

/** Listens before anything else has started, so that a start can be watched that waits for its database. */
export async function openAdmin({
  limits,
  trustedProxies,
  readiness,
  metricsToken,
  ...options
}: AdminOptions): Promise<AdminServer> {
  const bounds = createBounds(limits, trustedProxies)
  let metrics: Route = {
    name: '/metrics',
    turn: 'JUDGED',
    handle: (_, response) => replyText(response, 503, 'The process is starting.'),
  }
  const routeOf = (path: string): Route | undefined => {
    if (path === metrics.name) return metrics
    const probe = probeOf(path)
    return (
      probe && { name: path, turn: 'PROBE', handle: (request, response) => probe(request, response, { readiness }) }
    )
  }
  const listener = await listen({
    ...{ ...options, bounds, routeOf, tls: null, socket: null, answered: () => {} },
    // It is there to the end of the process, and then nobody waits for probes.
    ...{ drain: new Drain(), inFlight: new InFlight() },
    // A probe of a pod names the pod's address. Pages have no token for the metrics, and health is no secret.
    ...{ allowedHosts: [], allowedOrigins: [], refusesPages: true, allowsAnyHost: true },
  })
  return {
    url: listener.url,
    refusals: bounds.refusals,
    show(shown, access) {
      const parts = { ...bounds, ...access, metrics: shown, metricsToken }
      metrics = { ...metrics, handle: (request, response) => showMetrics(request, response, parts) }
    },
    [Symbol.asyncDispose]: () => listener.close(),
  }
}
