import { NO_CALLER, NO_TARGET, TOKEN_REFUSED } from '../../core/audit.ts'
import type { AuditPort } from '../../core/ports/audit.ts'
import type { RequestOrigin, Viewer } from '../../core/ports/viewer.ts'
import type { Tokens } from '../../graphql/auth/tokens.ts'
import type { Bounds } from '../limits/bounds.ts'

export interface TokenParts extends Pick<Bounds, 'callers' | 'turns'> {
  readonly tokens: Tokens
  readonly audit: Pick<AuditPort, 'note' | 'noteThrottled'>
}

/**
 * The caller; null: the token is not valid. Unknown tokens take turns by address, so a guesser delays only other
 * unknown callers at its address.
 */
export async function checkToken(
  { tokens, audit, callers, turns }: TokenParts,
  secret: string,
  origin: RequestOrigin,
): Promise<Viewer | null> {
  const { address, requestId } = origin
  if (!tokens.isKnown(secret)) await turns.next(callers.strangersAt(address))
  const viewer = await tokens.authenticate(secret)
  if (viewer) return { ...viewer, origin }
  audit.note({
    ...{ ...NO_CALLER, address, requestId },
    ...NO_TARGET,
    ...{ operation: TOKEN_REFUSED, outcome: 'REFUSED', code: 'UNAUTHENTICATED', fields: [], count: 1 },
  })
  return null
}
