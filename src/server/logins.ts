import type { Login } from '../core/ports/login.ts'

/** The document at `/.well-known/phaseline`, which needs no token: how to get one. */
export const loginsDocument = (logins: readonly Login[]): string =>
  JSON.stringify({
    logins: logins.map(({ issuer, clientId, scope, resource, token }) => ({
      issuer,
      clientId,
      scope,
      resource,
      token,
    })),
  })

/** Origins that the dashboard calls to sign in. */
export const originsOf = (logins: readonly Login[]): readonly string[] => [
  ...new Set(logins.flatMap(({ origins }) => origins)),
]
