import { NO_CALLER, NO_TARGET, TOKEN_REFUSED } from '../core/audit.ts'
import type { AuditPort } from '../core/ports/audit.ts'
import type { RequestOrigin, Viewer } from '../core/ports/viewer.ts'
import type { Tokens } from '../graphql/auth/tokens.ts'
import type { Excess } from './accounts.ts'
import type { WrongTokens } from './wrong-tokens.ts'

export interface TokenParts {
  readonly tokens: Tokens
  readonly audit: Pick<AuditPort, 'note' | 'noteSeldom'>
  readonly wrongTokens: WrongTokens
}

/** Who calls; null: the token is not valid. An excess: the address has tried too many. */
export async function checkToken(
  { tokens, audit, wrongTokens }: TokenParts,
  secret: string,
  origin: RequestOrigin,
): Promise<Viewer | Excess | null> {
  const { address, requestId } = origin
  const refused = (code: string) =>
    audit.note({
      ...{ ...NO_CALLER, address, requestId },
      ...NO_TARGET,
      ...{ operation: TOKEN_REFUSED, outcome: 'REFUSED', code, fields: [], count: 1 },
    })
  // A token with a signature of ours is no guess. Valid tokens are not asked: they need no second verification.
  const isGuess = () => !tokens.isSigned(secret)
  const retryAfterMs = wrongTokens.delayOf(secret, address)
  if (retryAfterMs > 0 && isGuess()) {
    refused('RATE_LIMITED')
    const message = `Too many wrong tokens have come from this address: try again in ${retryAfterMs} ms.`
    return { code: 'RATE_LIMITED', message, retryAfterMs }
  }
  const viewer = await tokens.authenticate(secret)
  if (viewer) {
    wrongTokens.wasRight(secret)
    return { ...viewer, origin }
  }
  if (isGuess()) wrongTokens.wasWrong(secret, address)
  refused('UNAUTHENTICATED')
  return null
}

export const isExcess = (found: Viewer | Excess): found is Excess => 'retryAfterMs' in found
