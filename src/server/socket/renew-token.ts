import { CredentialsUnavailable } from '../../core/credentials-unavailable.ts'
import { isDatabaseUnavailable } from '../../core/database-unavailable.ts'
import type { RequestOrigin, Viewer } from '../../core/ports/viewer.ts'
import { checkToken, type TokenParts } from '../auth/check-token.ts'
import { bearerOf } from '../auth/credentials.ts'
import { rightsKey } from '../limits/connections.ts'

/** The result of a fresh token that a client sent over its open socket. */
export type Renewal =
  | { readonly kind: 'renewed'; readonly secret: string; readonly viewer: Viewer }
  /** It cannot be checked at the moment: the one before it counts on. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'refused'; readonly why: 'FORBIDDEN' | 'RIGHTS_CHANGED' }

/** A socket stays that of one principal; its streams were opened with the rights of before. */
export async function renewToken(
  authorization: unknown,
  { before, origin, parts }: { readonly before: Viewer; readonly origin: RequestOrigin; readonly parts: TokenParts },
): Promise<Renewal> {
  const secret = bearerOf(authorization)
  try {
    const viewer = secret === null ? null : await checkToken(parts, secret, origin)
    if (secret === null || viewer?.principalId !== before.principalId) return { kind: 'refused', why: 'FORBIDDEN' }
    if (rightsKey(viewer) !== rightsKey(before)) return { kind: 'refused', why: 'RIGHTS_CHANGED' }
    return { kind: 'renewed', secret, viewer }
  } catch (error) {
    if (error instanceof CredentialsUnavailable || isDatabaseUnavailable(error)) return { kind: 'kept' }
    throw error
  }
}

/** A token's lifetime for connection_ack and the answer to a fresh one; null: it does not expire. */
export const lifeOf = ({ expiresAt }: Viewer, now: Date): { readonly expiresInMs: number } | null =>
  expiresAt ? { expiresInMs: Math.max(0, expiresAt.getTime() - now.getTime()) } : null
