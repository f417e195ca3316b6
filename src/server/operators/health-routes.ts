import type { IncomingMessage, ServerResponse } from 'node:http'
import { PROBE_PATHS } from '../endpoints/endpoints.ts'
import { reply, replyText } from '../replies/reply.ts'
import type { Readiness } from './readiness.ts'

export interface HealthParts {
  readonly readiness: Readiness
}
export type HealthHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  parts: HealthParts,
) => Promise<void> | void

/** That it answers is all that it says: the database is not asked, since a restart of this process would not mend it. */
const showLive: HealthHandler = (_, response) => replyText(response, 200, 'ok')

/** Probes of orchestrators and load balancers. They have no data, and need no token. */
const PROBES: Readonly<Record<string, HealthHandler>> = {
  ...Object.fromEntries(PROBE_PATHS.live.map((path) => [path, showLive])),
  [PROBE_PATHS.ready]: showReady,
}
export const probeOf = (path: string): HealthHandler | undefined =>
  Object.hasOwn(PROBES, path) ? PROBES[path] : undefined

async function showReady(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { readiness }: HealthParts,
): Promise<void> {
  const checks = await readiness.check()
  const failed = checks.filter(({ ok }) => !ok)
  const status = failed.length === 0 ? 200 : 503
  response.setHeader('cache-control', 'no-store')
  if (headers.accept?.includes('application/json'))
    return reply(
      response,
      status,
      'application/json; charset=utf-8',
      `${JSON.stringify({ ready: status === 200, checks })}\n`,
    )
  replyText(response, status, failed.map(({ name, reason }) => `${name}: ${reason}`).join('\n') || 'ready')
}
