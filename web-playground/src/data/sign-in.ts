import { freshTokens, loadIssuer, type SignIn, type SignInStore } from 'phaseline/sign-in'
import { pageKey, renewCookie, signIn, signOut } from './page-key.ts'

/**
 * The sign-in at an issuer, in the session storage of the tab in which it was made, which GraphiQL's frame shares. This tab alone can renew
 * the token, and renews it for the other tabs, too, whose token is in the cookie.
 */
const KEY = 'phaseline-sign-in'

interface TabSignIn extends SignIn {
  /** The page key that came with it. */
  readonly key: string
  readonly isKept: boolean
}

/** Null: there is none, or another tab has signed out, or in anew. */
export function storedSignIn(): TabSignIn | null {
  const text = sessionStorage.getItem(KEY)
  const stored = text === null ? null : (JSON.parse(text) as TabSignIn)
  return stored?.key === pageKey() ? stored : null
}

/** @throws ClientError if the server does not accept its token */
export async function acceptSignIn(made: SignIn, isKept: boolean): Promise<void> {
  store({ ...made, key: await signIn(made.token, isKept), isKept })
}

const store = (stored: TabSignIn): void => sessionStorage.setItem(KEY, JSON.stringify(stored))

const inTab: SignInStore = {
  read: async () => storedSignIn(),
  async write(renewed) {
    const before = storedSignIn()
    if (!before) return
    const { key, isKept } = before
    store({ ...renewed, key, isKept })
    // This tab has its token. The others are woken by a later one.
    renewCookie({ token: renewed.token, key, isKept }).catch(() => undefined)
  },
  exclusively: (renew) => navigator.locks.request(KEY, renew),
}

/** The token of the sign-in, renewed before it expires. */
export const freshToken = freshTokens(inTab)

/** Signs this browser out. */
export function endSignIn(): void {
  signOut()
  dropSignIn()
}

/** To be called when another tab has signed out, or in anew. */
export function dropReplacedSignIn(): void {
  if (!storedSignIn()) dropSignIn()
}

/** Forgets the sign-in of this tab at an issuer, and has the issuer do so, too. */
export function dropSignIn(): void {
  const text = sessionStorage.getItem(KEY)
  sessionStorage.removeItem(KEY)
  // Nobody waits for the issuer, which may be away.
  if (text !== null)
    void loadIssuer()
      .then(({ revokeSignIn }) => revokeSignIn(JSON.parse(text) as TabSignIn))
      .catch(() => undefined)
}
