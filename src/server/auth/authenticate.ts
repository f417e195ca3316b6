import type { IncomingMessage, ServerResponse } from 'node:http'
import { CredentialsUnavailable, RETRY_AFTER_S } from '../../core/credentials-unavailable.ts'
import { DATABASE_RETRY_MS } from '../../core/database-unavailable.ts'
import type { RequestOrigin, Viewer } from '../../core/ports/viewer.ts'
import { databaseFailure } from '../../graphql/schema/failures.ts'
import { type RefusalParts, refuse, replyError } from '../replies/reply.ts'
import { checkToken, type TokenParts } from './check-token.ts'
import { secretOf, TOKEN_MISSING, TOKEN_WRONG } from './credentials.ts'

export interface Authenticated {
  readonly secret: string
  readonly viewer: Viewer
}

type AuthenticationParts = TokenParts & RefusalParts

/** The caller of an HTTP request. Null: it has none, and is answered. */
export const authenticate = (
  { headers }: IncomingMessage,
  response: ServerResponse,
  parts: AuthenticationParts,
  origin: RequestOrigin,
): Promise<Authenticated | null> => authenticateSecret(secretOf(headers), response, parts, origin)

/** The same for a secret that has come otherwise; null: none has. */
export async function authenticateSecret(
  secret: string | null,
  response: ServerResponse,
  parts: AuthenticationParts,
  origin: RequestOrigin,
): Promise<Authenticated | null> {
  const { refusals, lateRefusals, callers } = parts
  try {
    const viewer = secret === null ? null : await checkToken(parts, secret, origin)
    if (secret === null) await parts.turns.next(callers.strangersAt(origin.address))
    if (secret !== null && viewer !== null) return { secret, viewer }
  } catch (error) {
    const unavailable = databaseFailure(error)
    if (unavailable) {
      refusals.count('SERVICE_UNAVAILABLE')
      response.setHeader('retry-after', DATABASE_RETRY_MS / 1_000)
      const { message, extensions } = unavailable
      const { code: _, ...more } = extensions
      replyError(response, 503, 'SERVICE_UNAVAILABLE', message, more)
      return null
    }
    if (!(error instanceof CredentialsUnavailable)) throw error
    response.setHeader('retry-after', RETRY_AFTER_S)
    refuse(response, refusals, 503, 'SERVICE_UNAVAILABLE', error.message)
    return null
  }
  response.setHeader('www-authenticate', 'Bearer')
  refusals.count('UNAUTHENTICATED')
  const answer = () => replyError(response, 401, 'UNAUTHENTICATED', secret === null ? TOKEN_MISSING : TOKEN_WRONG)
  // Late where too many have come, for whoever comes again at once.
  if (callers.strangersAt(origin.address).request()) lateRefusals.delay(response, answer)
  else answer()
  return null
}
