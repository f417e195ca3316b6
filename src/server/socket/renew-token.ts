import { CredentialsUnavailable } from '../../core/credentials-unavailable.ts'
import { isDatabaseUnavailable } from '../../core/database-unavailable.ts'
import type { RequestOrigin, Viewer } from '../../core/ports/viewer.ts'
import type { Authenticated } from '../auth/authenticate.ts'
import { checkToken, type TokenParts } from '../auth/check-token.ts'
import { rightsKey } from '../limits/connections.ts'

/** The result of a fresh token that a client sent over its open socket. */
export type Renewal =
  | { readonly kind: 'renewed'; readonly secret: string; readonly viewer: Viewer }
  /** It is the one before, as a page key stands for until its socket ends; or it cannot be checked at the moment. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'refused'; readonly why: 'FORBIDDEN' | 'RIGHTS_CHANGED' }

/** A socket stays that of one principal; its streams were opened with the rights of before. */
export async function renewToken(
  secret: string | null,
  {
    before,
    origin,
    parts,
  }: { readonly before: Authenticated; readonly origin: RequestOrigin; readonly parts: TokenParts },
): Promise<Renewal> {
  if (secret === before.secret) return { kind: 'kept' }
  const { viewer: known } = before
  try {
    const viewer = secret === null ? null : await checkToken(parts, secret, origin)
    if (secret === null || viewer?.principalId !== known.principalId) return { kind: 'refused', why: 'FORBIDDEN' }
    if (rightsKey(viewer) !== rightsKey(known)) return { kind: 'refused', why: 'RIGHTS_CHANGED' }
    return { kind: 'renewed', secret, viewer }
  } catch (error) {
    if (error instanceof CredentialsUnavailable || isDatabaseUnavailable(error)) return { kind: 'kept' }
    throw error
  }
}

/** A token's lifetime for connection_ack and the answer to a fresh one; null: it does not expire. */
export const lifeOf = ({ expiresAt }: Viewer, now: Date): { readonly expiresInMs: number } | null =>
  expiresAt ? { expiresInMs: Math.max(0, expiresAt.getTime() - now.getTime()) } : null
