import type { ClientOptions } from 'phaseline/client'
import { endSignIn, freshToken, storedSignIn } from './sign-in.ts'
import { keepToken, storeToken } from './token.ts'

/** What this tab calls the server with: a token, or a sign-in that makes tokens. */
export interface Access {
  readonly token: ClientOptions['token']
  readonly isSignIn: boolean
}

/** A token in the address takes the place of everything before it. */
export function keepAccess(): Access | null {
  const before = storedSignIn()
  const token = keepToken()
  if (before && token === before.token) return { token: freshToken, isSignIn: true }
  if (before && token) {
    endSignIn()
    storeToken(token)
  }
  return token ? { token, isSignIn: false } : null
}
