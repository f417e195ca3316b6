import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import type { System } from '../core/ports/system.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { type Grant, projectsOf } from '../core/rights.ts'
import type { SelfMadeTokens } from '../graphql/auth/tokens.ts'
import type { Logger } from '../logger.ts'
import type { AccessPolicy, IssuerSettings } from './access-policy.ts'
import { ensureIdentity, projectIdsOf } from './identities.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { type Claims, type Judgement, judgeClaims, nameOf } from './judge-claims.ts'
import { claimedIssuer, type VerifiedClaims, verifyToken } from './verify-token.ts'

export interface IssuerTokensParts {
  readonly pool: Pool
  readonly system: System
  readonly logger: Logger
  /** As it is at the moment. */
  readonly policy: () => AccessPolicy
}

/** JSON Web Tokens of the issuers in the access policy, which gives their principals all rights that they have. */
export function createIssuerTokens({ pool, system, logger, policy }: IssuerTokensParts): SelfMadeTokens {
  const keys = new Map<string, IssuerKeys>()
  const keysOf = (url: string): IssuerKeys => {
    const known = keys.get(url) ?? new IssuerKeys(url, logger)
    keys.set(url, known)
    return known
  }
  const issuerOf = (token: string): IssuerSettings | undefined => {
    const url = claimedIssuer(token)
    return url === null ? undefined : policy().issuers.find((issuer) => issuer.url === url)
  }
  return {
    recognises: (token) => issuerOf(token) !== undefined,
    async authenticate(token) {
      const issuer = issuerOf(token)
      if (!issuer) return null
      const verdict = await verifyToken(token, issuer, { keys: keysOf(issuer.url).find, now: system.now() })
      if (!verdict.ok) {
        logger.debug({ issuer: issuer.url, reason: verdict.reason }, 'a token of an issuer is refused')
        return null
      }
      return await viewerOf(token, verdict.claims, issuer)
    },
  }

  async function viewerOf(token: string, claims: VerifiedClaims, issuer: IssuerSettings): Promise<Viewer | null> {
    const name = nameOf(claims, issuer)
    const identity = { issuer: issuer.url, subject: claims.sub }
    const principalId = await ensureIdentity(pool, { ...identity, id: system.id(), name, createdAt: system.now() })
    if (principalId === null) return null
    const grants = await grantsOf(judgeClaims(claims, issuer))
    return {
      ...{ principalId, tokenId: idOf(token, claims), name, actor: 'USER', grants, projects: projectsOf(grants) },
      ...{ types: null, targets: null, expiresAt: new Date((claims.exp + issuer.clockSkewS) * 1_000) },
    }
  }

  /** Rules about projects that there are not give nothing. */
  async function grantsOf({ administrator, grants: named }: Judgement): Promise<readonly Grant[]> {
    const ids = await projectIdsOf(pool, [...new Set(named.flatMap(({ project }) => project ?? []))])
    const grants = named.flatMap(({ role, project }): Grant[] => {
      const projectId = project === null ? null : ids.get(project)
      return projectId === undefined ? [] : [{ role, projectId }]
    })
    return administrator ? [{ role: 'ADMINISTRATOR', projectId: null }, ...grants] : grants
  }
}

/** No row has it: it names the token where ids are compared or written. */
function idOf(token: string, { jti }: Claims): string {
  const hex = createHash('sha256')
    .update(typeof jti === 'string' ? jti : token)
    .digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
