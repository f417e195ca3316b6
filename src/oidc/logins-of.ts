import type { Login } from '../core/ports/login.ts'
import type { AccessPolicy } from './access-policy.ts'

/** The logins that a policy offers. Pure. */
export const loginsOf = ({ issuers }: AccessPolicy): readonly Login[] =>
  issuers.flatMap(({ url, login }) => {
    if (!login) return []
    const { clientId, scope, resource = null, token, origins } = login
    return [{ issuer: url, clientId, scope, resource, token, origins: [new URL(url).origin, ...origins] }]
  })
