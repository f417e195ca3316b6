import type { IncomingMessage, ServerResponse } from 'node:http'
import type { System } from '../../core/ports/system.ts'
import { authenticateSecret } from '../auth/authenticate.ts'
import { bearerOf } from '../auth/credentials.ts'
import { cookiesFor, NONCE_BYTES, sealToken } from '../auth/sign-in-cookie.ts'
import { allowOf, SIGN_IN_BODY, SIGN_IN_PATH } from '../endpoints/endpoints.ts'
import { replyError } from '../replies/reply.ts'
import { requestIdIn } from '../replies/request-id.ts'
import { bodyInTime } from './body-in-time.ts'
import type { HttpParts } from './graphql-http.ts'
import { isJson, NEEDS_JSON, replyRefusal } from './json-body.ts'

/**
 * `/sign-in`, for the pages of this server alone: POST puts a token into the cookie of the browser, sealed with the page key, and DELETE
 * ends the cookie. Nothing is stored here: each request with the cookie has its token judged, as if it had come in the header.
 */

export interface SignInParts {
  readonly system: Pick<System, 'now' | 'secret'>
}

/** Seconds that a cookie outlives its browser, if its token lives as long. */
const LONGEST_S = 30 * 24 * 3_600

interface Wanted {
  readonly token: string | null
  readonly key: string
  readonly isKept: boolean
}

export async function handleSignIn(
  request: IncomingMessage,
  response: ServerResponse,
  parts: HttpParts & SignInParts,
): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  const { method, headers } = request
  const { host = '', origin = '', 'content-type': type = '' } = headers
  const as = { host, isSecure: origin.startsWith('https:') }
  const answer = (sealed: string, maxAgeS: number | null): void =>
    void response.writeHead(204, { 'set-cookie': [...cookiesFor(as, sealed, maxAgeS)] }).end()
  if (method === 'DELETE') return answer('', 0)
  if (method !== 'POST') {
    response.setHeader('allow', allowOf(SIGN_IN_PATH))
    return replyError(response, 405, 'METHOD_NOT_ALLOWED', 'A page signs in by POST, and out by DELETE.')
  }
  if (!isJson(type)) return replyRefusal(response, NEEDS_JSON)
  const body = await bodyInTime(request, { withinMs: SIGN_IN_BODY.withinMs, maxBytes: SIGN_IN_BODY.bytes })
  if (body === null) return
  if (!Buffer.isBuffer(body)) {
    response.setHeader('connection', 'close')
    return body === 'LATE'
      ? replyError(
          response,
          408,
          'TIMEOUT',
          `The body has not arrived within ${SIGN_IN_BODY.withinMs / 1_000} seconds.`,
        )
      : replyError(response, 413, 'TOO_LARGE', `The body may have at most ${SIGN_IN_BODY.bytes} bytes.`)
  }
  const wanted = wantedIn(body.toString('utf8'))
  const sealed = wanted && sealToken(wanted.token ?? '', wanted.key, parts.system.secret(NONCE_BYTES))
  if (!wanted || !sealed) {
    return replyError(
      response,
      400,
      'BAD_REQUEST',
      'The body must be a JSON object with a token, a page key and isKept.',
    )
  }
  const from = { address: parts.callers.addressOf(request), requestId: requestIdIn(response) }
  const authenticated = await authenticateSecret(wanted.token, response, parts, from)
  if (!authenticated) return
  const { expiresAt } = authenticated.viewer
  const lifeS = expiresAt ? (expiresAt.getTime() - parts.system.now().getTime()) / 1_000 : LONGEST_S
  answer(sealed, wanted.isKept ? Math.floor(Math.min(lifeS, LONGEST_S)) : null)
}

/** Null: it is none. Its token may be one that no request can carry, which is null then. */
function wantedIn(body: string): Wanted | null {
  try {
    const { token, key, isKept } = JSON.parse(body) as Partial<Record<keyof Wanted, unknown>>
    if (typeof token !== 'string' || typeof key !== 'string' || typeof isKept !== 'boolean') return null
    return { token: bearerOf(`Bearer ${token}`), key, isKept }
  } catch {
    return null
  }
}
