import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { Login } from '../core/ports/login.ts'
import type { System } from '../core/ports/system.ts'
import { familyTokens, type LoadedFamily } from '../families/define-family.ts'
import { createTokens, type Tokens } from '../graphql/auth/tokens.ts'
import type { Logger } from '../logger.ts'
import type { AccessPolicy } from '../oidc/access-policy.ts'
import { createIssuerTokens } from '../oidc/issuer-tokens.ts'
import { loginsOf } from '../oidc/logins-of.ts'
import { watchPolicy } from '../oidc/watched-policy.ts'
import type { Sealing } from '../store/sealing.ts'
import type { Writes } from '../store/write-watch.ts'

export interface Access extends Disposable {
  readonly tokens: Tokens
  /** The present ways to sign in. */
  readonly logins: () => readonly Login[]
}
interface AccessParts {
  readonly families: readonly LoadedFamily[]
  readonly sealing: Sealing
  readonly pool: Pool
  readonly system: System
  readonly config: Pick<Config, 'accessPolicy'>
  readonly logger: Logger
  readonly writes: Writes
}

/**
 * All tokens that this server accepts: its own, those of families, and those of issuers.
 * @throws PolicyProblem
 */
export async function openAccess({ families, sealing, ...parts }: AccessParts): Promise<Access> {
  const { pool, system, config, logger, writes } = parts
  const ofFamilies = familyTokens(families, { pool, sealing })
  if (config.accessPolicy === undefined)
    return {
      tokens: createTokens(pool, system, ofFamilies, writes),
      logins: () => [],
      [Symbol.dispose]: () => undefined,
    }
  const watched = await watchPolicy(config.accessPolicy, { logger, changed: () => tokens.forget() })
  const policy = (): AccessPolicy => watched.current
  const ofIssuers = createIssuerTokens({ pool, system, logger, policy })
  const tokens = createTokens(pool, system, [...ofFamilies, ofIssuers], writes)
  return { tokens, logins: () => loginsOf(policy()), [Symbol.dispose]: () => watched[Symbol.dispose]() }
}
