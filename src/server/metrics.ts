import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export interface Metrics {
  readonly contentType: string
  answered(route: string, status: number, seconds: number): void
  text(): Promise<string>
}

/** What Prometheus may scrape: the process itself, requests by route and status, open sockets. */
export function createMetrics(sockets: () => number): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'phaseline_http_request_seconds',
    help: 'Time to answer a request; a stream of events counts until it ends.',
    labelNames: ['route', 'status'],
    registers: [registry],
  })
  new Gauge({
    name: 'phaseline_websockets',
    help: 'Open WebSocket connections.',
    registers: [registry],
    collect() {
      this.set(sockets())
    },
  })
  return {
    contentType: registry.contentType,
    answered: (route, status, seconds) => requests.observe({ route, status }, seconds),
    text: () => registry.metrics(),
  }
}
