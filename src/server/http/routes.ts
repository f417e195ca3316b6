import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HookPort } from '../../core/ports/hooks.ts'
import type { Login } from '../../core/ports/login.ts'
import { loginsDocument, originsOf } from '../auth/logins.ts'
import {
  API_PATH,
  ARTIFACTS_PATH,
  DESCRIPTION_PATHS,
  HOOKS_PATH,
  LOG_PATH,
  LOGINS_PATH,
  METRICS_PATH,
  SEALS_PATH,
  SIGN_IN_PATH,
} from '../endpoints/endpoints.ts'
import { PIECE } from '../json/request-text.ts'
import { type HealthParts, probeOf } from '../operators/health-routes.ts'
import { type MetricsParts, showMetrics } from '../operators/metrics-route.ts'
import type { Dashboard } from '../pages/dashboard.ts'
import type { Descriptions } from '../pages/descriptions.ts'
import type { Documentation } from '../pages/documentation.ts'
import { landingPage } from '../pages/landing.ts'
import type { Page } from '../pages/page.ts'
import { replyText } from '../replies/reply.ts'
import { type ArtifactParts, handleArtifact } from './artifact-http.ts'
import { handleGraphQL } from './graphql-http.ts'
import { handleHook } from './hook-http.ts'
import type { Route } from './listener.ts'
import { handleLog, type LogHttpParts } from './log-http.ts'
import { handleSeals } from './seals-http.ts'
import { handleSignIn, type SignInParts } from './sign-in-http.ts'

export interface RouteParts extends LogHttpParts, ArtifactParts, HealthParts, MetricsParts, SignInParts {
  /** Null: nobody may post deliveries. */
  readonly hooks: HookPort | null
  /** Null when it is not built: then a page of links takes its place. */
  readonly dashboard: Dashboard | null
  /** Null when it is not built: then it is said how that is done. */
  readonly documentation: Documentation | null
  /** The descriptions of the API, by their paths. */
  readonly descriptions: Descriptions
  /** The present ways to sign in. */
  readonly logins: () => readonly Login[]
}
export type Handler = (request: IncomingMessage, response: ServerResponse, parts: RouteParts) => Promise<void> | void

/** They have no data and need no token. The dashboard and the documentation have more. */
const PAGES: Readonly<Record<string, Handler>> = {
  '/': showIndex,
  // The server prints this address, also while the dashboard is not built.
  '/explore': showIndex,
  '/graphiql': showGraphiql,
  [API_PATH]: showGraphiql,
  [LOGINS_PATH]: showLogins,
  ...Object.fromEntries(DESCRIPTION_PATHS.map((path) => [path, showDescription])),
}

const DOCS = '/docs'

/** Addresses of pages of the dashboard, which alone knows the pages, and shows that one does not exist. */
const PAGE = /^\/[a-z]{1,40}(\/[\w.-]{1,200})?$/

/** The handler of a request for a path, and its name in the metrics; undefined when there is none. */
export function routeOf(path: string, request: IncomingMessage, parts: RouteParts): Route | undefined {
  const route = (name: string, handle: Handler, turn?: Route['turn']): Route => ({
    name,
    ...(turn && { turn }),
    handle: (sent, response) => handle(sent, response, parts),
  })
  if (path === API_PATH && !wantsPage(request)) return route(path, handleGraphQL, 'JUDGED')
  if (path === METRICS_PATH) return route(path, showMetrics, 'JUDGED')
  if (path === SIGN_IN_PATH) return { ...route(path, handleSignIn), isForOwnPages: true }
  const probe = probeOf(path)
  if (probe) return route(path, probe, 'PROBE')
  const handler = Object.hasOwn(PAGES, path) ? PAGES[path] : undefined
  if (handler) return route(path, handler)
  if (path.startsWith(ARTIFACTS_PATH)) return route(ARTIFACTS_PATH, handleArtifact, 'JUDGED')
  if (path === LOG_PATH && !acceptsPage(request)) return route(LOG_PATH, handleLog, 'JUDGED')
  if (path === SEALS_PATH) return route(SEALS_PATH, handleSeals, 'JUDGED')
  const { hooks } = parts
  if (hooks && path.startsWith(HOOKS_PATH) && !wantsPage(request))
    return route(HOOKS_PATH, (sent, response) => handleHook(sent, response, { ...parts, hooks }), 'JUDGED')
  if (path === DOCS || path.startsWith(`${DOCS}/`)) return route(DOCS, showDocumentation)
  if (!parts.dashboard) return undefined
  if (path.startsWith('/assets/')) return route('/assets', showAsset)
  return PAGE.test(path) && acceptsPage(request) ? route('/', showIndex) : undefined
}

function showIndex(request: IncomingMessage, response: ServerResponse, parts: RouteParts): Promise<void> {
  const { dashboard, logins } = parts
  return showPage(request, response, parts, dashboard?.index(originsOf(logins())) ?? landingPage)
}

function showLogins(request: IncomingMessage, response: ServerResponse, parts: RouteParts): Promise<void> {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' }
  return showPage(request, response, parts, { body: Buffer.from(loginsDocument(parts.logins())), headers })
}

async function showDescription(request: IncomingMessage, response: ServerResponse, parts: RouteParts): Promise<void> {
  const page = parts.descriptions.get(pathOf(request))
  if (page) return await showPage(request, response, parts, page)
  replyText(response, 404, 'Not found.')
}

function showGraphiql(request: IncomingMessage, response: ServerResponse, parts: RouteParts): Promise<void> {
  const { dashboard, logins } = parts
  return showPage(request, response, parts, dashboard?.graphiql(originsOf(logins())) ?? landingPage)
}

async function showAsset(request: IncomingMessage, response: ServerResponse, parts: RouteParts): Promise<void> {
  const path = pathOf(request)
  const asset = await parts.dashboard?.asset(path, request.headers['accept-encoding'])
  if (asset) return await showPage(request, response, parts, asset)
  replyText(response, 404, 'Not found.')
}

async function showDocumentation(request: IncomingMessage, response: ServerResponse, parts: RouteParts): Promise<void> {
  const { documentation } = parts
  const path = pathOf(request).slice(DOCS.length)
  // Links of its pages are relative to a folder.
  if (path === '') return void response.writeHead(308, { location: `${DOCS}/` }).end()
  if (!documentation) return replyText(response, 404, NOT_BUILT)
  const accepted = request.headers['accept-encoding']
  const page = await documentation.page(path, accepted)
  if (page) return await showPage(request, response, parts, page)
  const missing = acceptsPage(request) ? await documentation.page('/404', accepted) : null
  if (missing) return await showPage(request, response, parts, { ...missing, status: 404 })
  replyText(response, 404, 'Not found.')
}
const NOT_BUILT = 'The documentation is not built here: npm run build:docs does it, and docs/ has its text.'

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''
/** It comes from the address bar of a browser, not from a program. */
const acceptsPage = ({ headers }: IncomingMessage): boolean => headers.accept?.includes('text/html') ?? false
const wantsPage = (request: IncomingMessage): boolean => request.method === 'GET' && acceptsPage(request)

/** Pages need no token: large ones come at a slow pace. */
async function showPage(
  request: IncomingMessage,
  response: ServerResponse,
  { callers, pages }: RouteParts,
  { body, headers, status = 200 }: Page & { readonly status?: number },
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return replyText(response, 405, 'Only GET.')
  }
  const address = callers.addressOf(request)
  response.writeHead(status, { ...headers, 'content-length': body.length })
  if (request.method === 'GET')
    for (let from = 0; from < body.length && !response.destroyed; from += PIECE) {
      if (from > 0) await pages.next(address)
      response.write(body.subarray(from, from + PIECE))
    }
  response.end()
}
