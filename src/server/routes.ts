import type { IncomingMessage, ServerResponse } from 'node:http'
import { secretOf, UNAUTHENTICATED } from './credentials.ts'
import { graphiqlPage } from './graphiql.ts'
import { type HttpParts, handleGraphQL } from './graphql-http.ts'
import { landingPage } from './landing.ts'
import type { Metrics } from './metrics.ts'
import type { Page } from './page.ts'
import { replyError, replyText } from './reply.ts'

export interface RouteParts extends HttpParts {
  readonly metrics: Metrics
  /** Whether requests can be served right now. */
  readonly isReady: () => Promise<boolean>
}
type Handler = (request: IncomingMessage, response: ServerResponse, parts: RouteParts) => Promise<void> | void

/** All there is. Pages and health checks hold no data and need no token. */
export const ROUTES: Readonly<Record<string, Handler>> = {
  '/': (request, response) => showPage(request, response, landingPage),
  '/graphiql': async (request, response) => showPage(request, response, await graphiqlPage()),
  '/graphql': async (request, response, parts) =>
    wantsPage(request)
      ? showPage(request, response, await graphiqlPage())
      : await handleGraphQL(request, response, parts),
  '/healthz': (_, response) => replyText(response, 200, 'ok'),
  '/readyz': async (_, response, { isReady }) =>
    (await isReady()) ? replyText(response, 200, 'ready') : replyText(response, 503, 'not ready'),
  '/metrics': showMetrics,
}

const wantsPage = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.accept?.includes('text/html') ?? false)

function showPage(request: IncomingMessage, response: ServerResponse, { body, headers }: Page): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return replyText(response, 405, 'Only GET.')
  }
  response.writeHead(200, { ...headers, 'content-length': body.length })
  response.end(request.method === 'HEAD' ? undefined : body)
}

async function showMetrics(request: IncomingMessage, response: ServerResponse, parts: RouteParts): Promise<void> {
  const secret = secretOf(request.headers)
  if (secret === null || (await parts.tokens.authenticate(secret)) === null) {
    response.setHeader('www-authenticate', 'Bearer')
    return replyError(response, 401, 'UNAUTHENTICATED', UNAUTHENTICATED)
  }
  const text = await parts.metrics.text()
  response.writeHead(200, { 'content-type': parts.metrics.contentType }).end(text)
}
