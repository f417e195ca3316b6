import { freshTokens, loadIssuer, type SignIn, type SignInStore } from 'phaseline/sign-in'
import { forgetToken, storeToken } from './token.ts'

/** The sign-in of this tab, in its session storage, which GraphiQL's frame shares. */
const KEY = 'phaseline-sign-in'

export function storedSignIn(): SignIn | null {
  const text = sessionStorage.getItem(KEY)
  return text === null ? null : (JSON.parse(text) as SignIn)
}

export function storeSignIn(signIn: SignIn): void {
  sessionStorage.setItem(KEY, JSON.stringify(signIn))
  storeToken(signIn.token)
}

const store: SignInStore = {
  read: async () => storedSignIn(),
  write: async (signIn) => storeSignIn(signIn),
  exclusively: (renew) => navigator.locks.request(KEY, renew),
}

/** The token of the sign-in, renewed before it expires. */
export const freshToken = freshTokens(store)

/** Forgets the sign-in, and has the issuer do so, too. */
export function endSignIn(): void {
  const signIn = storedSignIn()
  sessionStorage.removeItem(KEY)
  forgetToken()
  // Nobody waits for the issuer, which may be away.
  if (signIn)
    void loadIssuer()
      .then(({ revokeSignIn }) => revokeSignIn(signIn))
      .catch(() => undefined)
}
