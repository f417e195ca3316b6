import type { Login, OfferedLogin } from '../../core/ports/login.ts'

/** The document at `/.well-known/phaseline`, which needs no token: how to get one. */
export const loginsDocument = (logins: readonly Login[]): string =>
  JSON.stringify({
    logins: logins.map(({ origins: _, ...offered }): OfferedLogin => offered),
  })

/** Origins that the dashboard calls to sign in. */
export const originsOf = (logins: readonly Login[]): readonly string[] => [
  ...new Set(logins.flatMap(({ origins }) => origins)),
]
