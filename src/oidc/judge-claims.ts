import { nearestName } from '../core/hidden-text.ts'
import { LIMITS } from '../core/limits.ts'
import type { ProjectRole } from '../core/rights.ts'
import type { IssuerSettings, Rule } from './access-policy.ts'

/** Applies the policy to a token's claims. Pure. */

export type Claims = Readonly<Record<string, unknown>>
export interface NamedGrant {
  readonly role: ProjectRole
  /** Name of the project; null: all. */
  readonly project: string | null
}
export interface Judgement {
  readonly administrator: boolean
  readonly grants: readonly NamedGrant[]
}

export function judgeClaims(claims: Claims, { rules }: Pick<IssuerSettings, 'rules'>): Judgement {
  const matching = rules.filter((rule) => matches(claims, rule))
  const grants = matching.flatMap(({ roles, projects = [null] }) =>
    roles.flatMap((role) => projects.map((project): NamedGrant => ({ role, project }))),
  )
  return {
    administrator: matching.some(({ administrator }) => administrator),
    grants: [...new Map(grants.map((grant) => [JSON.stringify([grant.role, grant.project]), grant])).values()],
  }
}

/** A list has the value if one of its entries is it. */
function matches(claims: Claims, { claim, value }: Rule): boolean {
  if (claim === undefined) return true
  const found = claimAt(claims, claim)
  return Array.isArray(found) ? found.includes(value) : found === value || (found === true && value === 'true')
}

/** By its whole name, which may hold dots, or by a path through nested objects, e.g. `realm_access.roles`. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path.split('.').reduce<unknown>((at, name) => {
    const isNested = typeof at === 'object' && at !== null && Object.hasOwn(at, name)
    return isNested ? (at as Claims)[name] : undefined
  }, claims)
}

/** Falls back to the subject, which every token has. */
export function nameOf(claims: Claims, { names }: Pick<IssuerSettings, 'names'>): string {
  for (const claim of [...names, 'sub']) {
    const found = claimAt(claims, claim)
    const name = typeof found === 'string' ? nearestName(found, LIMITS.tokenName.max) : ''
    if (name !== '') return name
  }
  return 'unnamed'
}
