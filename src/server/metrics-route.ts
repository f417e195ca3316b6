import type { IncomingMessage, ServerResponse } from 'node:http'
import { RIGHTS, requireRight } from '../core/rights.ts'
import { authenticate } from './authenticate.ts'
import type { Bounds } from './bounds.ts'
import type { TokenParts } from './check-token.ts'
import type { Metrics } from './metrics.ts'
import { refuse, reply } from './reply.ts'
import { requestIdIn } from './request-id.ts'

export interface MetricsParts extends Bounds, TokenParts {
  readonly metrics: Metrics
}

/** Metrics are of the whole instance, so no role of one project reads them, on whatever port. */
export async function showMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  parts: MetricsParts,
): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  const origin = { address: parts.callers.addressOf(request), requestId: requestIdIn(response) }
  const authenticated = await authenticate(request, response, parts, origin)
  if (!authenticated) return
  const refused = requireRight(authenticated.viewer, RIGHTS.readMetrics)
  if (refused) return refuse(response, parts.refusals, 403, 'FORBIDDEN', refused.message)
  const text = await parts.metrics.text()
  reply(response, 200, parts.metrics.contentType, text)
}
