import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Login } from '../core/ports/login.ts'
import { RIGHTS, requireRight } from '../core/rights.ts'
import { authenticate } from './authenticate.ts'
import type { Dashboard } from './dashboard.ts'
import { type HttpParts, handleGraphQL } from './graphql-http.ts'
import { landingPage } from './landing.ts'
import { loginsDocument, originsOf } from './logins.ts'
import type { Metrics } from './metrics.ts'
import type { Page } from './page.ts'
import { refuse, reply, replyText } from './reply.ts'
import { requestIdIn } from './request-id.ts'

export interface RouteParts extends HttpParts {
  readonly metrics: Metrics
  /** Whether the server can serve requests right now. */
  readonly isReady: () => Promise<boolean>
  /** Null when it is not built: then a page of links takes its place. */
  readonly dashboard: Dashboard | null
  /** How people sign in at the moment. */
  readonly logins: () => readonly Login[]
}
export type Handler = (request: IncomingMessage, response: ServerResponse, parts: RouteParts) => Promise<void> | void

export const API_PATH = '/graphql'

/** All routes but those of the dashboard. Pages and health checks have no data and need no token. */
const ROUTES: Readonly<Record<string, Handler>> = {
  '/': showIndex,
  '/graphiql': showGraphiql,
  [API_PATH]: (request, response, parts) =>
    wantsPage(request) ? showGraphiql(request, response, parts) : handleGraphQL(request, response, parts),
  '/healthz': (_, response) => replyText(response, 200, 'ok'),
  '/readyz': async (_, response, { isReady }) =>
    (await isReady()) ? replyText(response, 200, 'ready') : replyText(response, 503, 'not ready'),
  '/metrics': showMetrics,
  '/.well-known/phaseline': showLogins,
}

/** Addresses of pages of the dashboard, which alone knows the pages, and shows that one does not exist. */
const PAGE = /^\/[a-z]{1,40}(\/[\w.-]{1,200})?$/

/** The handler of a request for a path, and its name in the metrics; undefined when there is none. */
export function routeOf(
  path: string,
  request: IncomingMessage,
  dashboard: Dashboard | null,
): { readonly name: string; readonly handle: Handler } | undefined {
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined
  if (route) return { name: path, handle: route }
  if (!dashboard) return undefined
  if (path.startsWith('/assets/')) return { name: '/assets', handle: showAsset }
  return PAGE.test(path) && acceptsPage(request) ? { name: '/', handle: showIndex } : undefined
}

function showIndex(request: IncomingMessage, response: ServerResponse, { dashboard, logins }: RouteParts): void {
  showPage(request, response, dashboard?.index(originsOf(logins())) ?? landingPage)
}

function showLogins(request: IncomingMessage, response: ServerResponse, { logins }: RouteParts): void {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' }
  showPage(request, response, { body: Buffer.from(loginsDocument(logins())), headers })
}

function showGraphiql(request: IncomingMessage, response: ServerResponse, { dashboard, logins }: RouteParts): void {
  showPage(request, response, dashboard?.graphiql(originsOf(logins())) ?? landingPage)
}

function showAsset(request: IncomingMessage, response: ServerResponse, { dashboard }: RouteParts): void {
  const path = request.url?.split('?', 1)[0] ?? ''
  const asset = dashboard?.asset(path, request)
  if (asset) showPage(request, response, asset)
  else replyText(response, 404, 'Not found.')
}

/** It comes from the address bar of a browser, not from a program. */
const acceptsPage = ({ headers }: IncomingMessage): boolean => headers.accept?.includes('text/html') ?? false
const wantsPage = (request: IncomingMessage): boolean => request.method === 'GET' && acceptsPage(request)

function showPage(request: IncomingMessage, response: ServerResponse, { body, headers }: Page): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return replyText(response, 405, 'Only GET.')
  }
  response.writeHead(200, { ...headers, 'content-length': body.length })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Metrics are of the whole instance, so no role of one project reads them. */
async function showMetrics(request: IncomingMessage, response: ServerResponse, parts: RouteParts): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  const origin = { address: parts.callers.addressOf(request), requestId: requestIdIn(response) }
  const authenticated = await authenticate(request, response, parts, origin)
  if (!authenticated) return
  const refused = requireRight(authenticated.viewer, RIGHTS.readMetrics)
  if (refused) return refuse(response, parts.refusals, 403, 'FORBIDDEN', refused.message)
  const text = await parts.metrics.text()
  reply(response, 200, parts.metrics.contentType, text)
}
