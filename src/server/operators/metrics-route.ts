import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RIGHTS, requireRight } from '../../core/rights.ts'
import type { Secret } from '../../core/secret.ts'
import { authenticate } from '../auth/authenticate.ts'
import type { TokenParts } from '../auth/check-token.ts'
import { secretOf } from '../auth/credentials.ts'
import type { Bounds } from '../limits/bounds.ts'
import { refuse, reply } from '../replies/reply.ts'
import { requestIdIn } from '../replies/request-id.ts'
import type { Metrics } from './metrics.ts'

export interface MetricsParts extends Bounds, TokenParts {
  readonly metrics: Metrics
  /** Reads metrics and nothing else, and is known without the database. Undefined: there is none. */
  readonly metricsToken: Secret | undefined
}

/** Metrics are of the whole instance, so no role of one project reads them, on whatever port. */
export async function showMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  parts: MetricsParts,
): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  if (!isMetricsToken(parts.metricsToken, request) && !(await mayRead(request, response, parts))) return
  const text = await parts.metrics.text()
  reply(response, 200, parts.metrics.contentType, text)
}

/** False: it may not, and is answered. */
async function mayRead(request: IncomingMessage, response: ServerResponse, parts: MetricsParts): Promise<boolean> {
  const origin = { address: parts.callers.addressOf(request), requestId: requestIdIn(response) }
  const authenticated = await authenticate(request, response, parts, origin)
  if (!authenticated) return false
  const refused = requireRight(authenticated.viewer, RIGHTS.readMetrics)
  if (refused) refuse(response, parts.refusals, 403, 'FORBIDDEN', refused.message)
  return refused === null
}

function isMetricsToken(token: Secret | undefined, { headers }: IncomingMessage): boolean {
  const sent = secretOf(headers)
  return token !== undefined && sent !== null && timingSafeEqual(digest(token.reveal()), digest(sent))
}
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
