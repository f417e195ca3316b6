import type { IncomingMessage, ServerResponse } from 'node:http'
import { CredentialsUnavailable, RETRY_AFTER_S } from '../core/credentials-unavailable.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Tokens } from '../graphql/auth/tokens.ts'
import { secretOf, UNAUTHENTICATED } from './credentials.ts'
import type { Refusals } from './refusals.ts'
import { refuse } from './reply.ts'

export interface Authenticated {
  readonly secret: string
  readonly viewer: Viewer
}

/** The caller of an HTTP request. Null: it has none, and is answered. */
export async function authenticate(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { tokens, refusals }: { readonly tokens: Tokens; readonly refusals: Refusals },
): Promise<Authenticated | null> {
  const secret = secretOf(headers)
  try {
    const viewer = secret === null ? null : await tokens.authenticate(secret)
    if (secret !== null && viewer !== null) return { secret, viewer }
  } catch (error) {
    if (!(error instanceof CredentialsUnavailable)) throw error
    response.setHeader('retry-after', RETRY_AFTER_S)
    refuse(response, refusals, 503, 'SERVICE_UNAVAILABLE', error.message)
    return null
  }
  response.setHeader('www-authenticate', 'Bearer')
  refuse(response, refusals, 401, 'UNAUTHENTICATED', UNAUTHENTICATED)
  return null
}
