import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RIGHTS, requireRight } from '../../core/rights.ts'
import { allowOf, LOG_BOUNDS, NDJSON, SEALS_PATH } from '../endpoints/endpoints.ts'
import { reply, replyError } from '../replies/reply.ts'
import { asCaller, type Called } from './as-caller.ts'
import { type LogHttpParts, wholeNumber } from './log-http.ts'
import { strangersTurn } from './strangers-turn.ts'

const MOST = LOG_BOUNDS.limit.most
const WRONG = `after: must be the size of a seal; limit: must be a whole number from 1 to ${MOST}. There are no other parameters.`

/** `GET /log/seals`: a page of the seals of the log, as lines. No page is kept for long: a restored database may have other seals of the same size. */
export async function handleSeals(
  request: IncomingMessage,
  response: ServerResponse,
  parts: LogHttpParts,
): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  const asked = request.method === 'GET' ? askedIn(request.url ?? '') : null
  if (!asked) {
    if (!(await strangersTurn(request, response, parts))) return
    if (request.method === 'GET') return replyError(response, 400, 'BAD_USER_INPUT', WRONG)
    response.setHeader('allow', allowOf(SEALS_PATH))
    return replyError(response, 405, 'METHOD_NOT_ALLOWED', 'Seals are read by GET.')
  }
  await asCaller(request, response, parts, (called) => answer(called, asked, parts))
}

interface Asked {
  readonly after: number
  readonly limit: number
}
function askedIn(url: string): Asked | null {
  const parameters = new URL(url, 'http://here').searchParams
  const after = wholeNumber(parameters.get('after') ?? '0', 0, Number.MAX_SAFE_INTEGER)
  const limit = wholeNumber(parameters.get('limit') ?? String(MOST), 1, MOST)
  const isKnown = [...parameters.keys()].every((name) => name === 'after' || name === 'limit')
  return isKnown && after !== null && limit !== null ? { after, limit } : null
}

async function answer({ request, response, viewer, caller }: Called, { after, limit }: Asked, { log }: LogHttpParts) {
  const refusal = requireRight(viewer, RIGHTS.readSeals)
  if (refusal) return replyError(response, 403, 'FORBIDDEN', refusal.message)
  const lines = (await log.seals(after, limit)).map((line) => `${line}\n`).join('')
  const etag = `"${hash('sha256', lines, 'base64url').slice(0, 22)}"`
  response.setHeader('vary', 'authorization, cookie')
  response.setHeader('etag', etag)
  response.setHeader('cache-control', 'private, no-cache')
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
  caller.meter()(lines.length)
  reply(response, 200, `${NDJSON}; charset=utf-8`, lines)
}
