import { ClientError } from 'phaseline/client'
import { isFresh, type SignIn } from '../model/sign-in.ts'
import { forgetToken, storeToken } from './token.ts'

/** The sign-in of this tab, in its session storage. Its token is also where GraphiQL finds it. */
const KEY = 'phaseline-sign-in'

export function storedSignIn(): SignIn | null {
  const text = sessionStorage.getItem(KEY)
  return text === null ? null : (JSON.parse(text) as SignIn)
}

export function storeSignIn(signIn: SignIn): void {
  sessionStorage.setItem(KEY, JSON.stringify(signIn))
  storeToken(signIn.token)
}

let renewing: Promise<SignIn> | undefined

/**
 * The token of the sign-in, renewed before it expires.
 * @throws ClientError, `unauthorized` when only a new sign-in helps
 */
export async function freshToken(): Promise<string> {
  const signIn = storedSignIn()
  if (!signIn) throw new ClientError('unauthorized', 'You are signed out.')
  if (isFresh(signIn, Date.now())) return signIn.token
  renewing ??= renew(signIn).finally(() => {
    renewing = undefined
  })
  try {
    return (await renewing).token
  } catch (error) {
    if (error instanceof ClientError) throw error
    // The issuer cannot be reached: the token may still do.
    if (signIn.expiresAt > Date.now()) return signIn.token
    throw new ClientError('network', `${signIn.login.issuer} cannot be reached.`, { retryable: true })
  }
}

async function renew(before: SignIn): Promise<SignIn> {
  const { renewSignIn, SignInEnded } = await import('./oauth.ts')
  try {
    const signIn = await renewSignIn(before)
    storeSignIn(signIn)
    return signIn
  } catch (error) {
    if (error instanceof SignInEnded) throw new ClientError('unauthorized', error.message)
    throw error
  }
}

/** Forgets the sign-in, and has the issuer do so, too. */
export function endSignIn(): void {
  const signIn = storedSignIn()
  sessionStorage.removeItem(KEY)
  forgetToken()
  // Nobody waits for the issuer, which may be away.
  if (signIn) void import('./oauth.ts').then(({ revokeSignIn }) => revokeSignIn(signIn)).catch(() => undefined)
}
