import { ClientError, type ClientOptions, createClient } from 'phaseline/client'
import { VIEWER } from './documents-create.ts'
import { endSignIn, freshToken, storedSignIn } from './sign-in.ts'
import { offeredToken, storedToken, storeToken, takeToken } from './token.ts'

/** What this tab calls the server with: a token, or a sign-in that makes tokens. */
export interface Access {
  readonly token: ClientOptions['token']
  readonly isSignIn: boolean
}

export function storedAccess(): Access | null {
  const token = storedToken()
  if (token === null) return null
  return storedSignIn()?.token === token ? { token: freshToken, isSignIn: true } : { token, isSignIn: false }
}

/**
 * Signs this tab in with the token of a link. Anybody can send one, with a token of their own: if the tab is signed in already, the
 * person decides, since what they write then would be done for somebody else.
 */
export async function acceptLink(): Promise<void> {
  takeToken()
  const token = offeredToken()
  if (token === null || !(await isWanted(token))) return
  endSignIn()
  storeToken(token)
}

async function isWanted(token: string): Promise<boolean> {
  const [now, next] = await Promise.all([storedAccess(), { token }].map((access) => access && nameBehind(access)))
  if (!next) return false
  if (!now) return true
  return confirm(`This tab is signed in as ${now}. Sign in as ${next} instead, whose link you have opened?`)
}

/** Whose token it is; null: the server does not accept it. */
async function nameBehind({ token }: Pick<Access, 'token'>): Promise<string | null> {
  const client = createClient({
    url: new URL('/graphql', location.href).href,
    token,
    // As a method `fetch` would have the client for its `this`, which browsers refuse.
    fetch: (...call) => fetch(...call),
  })
  try {
    const { viewer } = await client.query(VIEWER)
    return viewer === null ? null : `“${viewer.name}” (${viewer.role})`
  } catch (error) {
    const isRefused = error instanceof ClientError && error.kind === 'unauthorized'
    return isRefused ? null : 'somebody whom the server does not name now'
  } finally {
    void client.close()
  }
}
