import type { Login } from '../core/ports/login.ts'
import type { AccessPolicy } from './access-policy.ts'

/** The logins that a policy offers. Pure. */
export const loginsOf = ({ issuers }: AccessPolicy): readonly Login[] =>
  issuers.flatMap(({ url, login }) => {
    if (!login) return []
    const { clientId, deviceClientId = clientId, scope, resource = null, token, origins } = login
    const offered = { issuer: url, clientId, deviceClientId, scope, resource, token }
    return [{ ...offered, origins: [new URL(url).origin, ...origins] }]
  })
