import { ClientError, type ClientOptions, createClient } from 'phaseline/client'
import { VIEWER } from './documents-create.ts'
import { endSignIn, freshToken, storedSignIn } from './sign-in.ts'
import { dropOffer, offeredToken, storedToken, storeToken, takeToken } from './token.ts'

/** This tab's credentials: a token, or a sign-in that makes tokens. */
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
 * Signs this tab in with the token of a link. Anybody can send one, with a token of their own, and what a person writes then would
 * be done for somebody else. So the person decides, unless it is an administrator's, which nobody else has, and the tab has none.
 */
export async function acceptLink(): Promise<void> {
  takeToken()
  const token = offeredToken()
  if (token === null) return
  const wanted = await isWanted(token)
  dropOffer()
  if (!wanted) return
  endSignIn()
  storeToken(token)
}

async function isWanted(token: string): Promise<boolean> {
  const [now, next] = await Promise.all([storedAccess(), { token }].map((access) => access && personBehind(access)))
  // A tab without a session says what is wrong with the token.
  if (!next) return !now
  if (now)
    return confirm(`This tab is signed in as ${now.name}. Sign in as ${next.name} instead, whose link you have opened?`)
  return next.isAdministrator || confirm(`Sign in as ${next.name}, whose link you have opened?`)
}

interface Person {
  readonly name: string
  readonly isAdministrator: boolean
}
const UNKNOWN: Person = { name: 'somebody whom the server does not name now', isAdministrator: false }

/** The token's owner; null: the server does not accept it. */
async function personBehind({ token }: Pick<Access, 'token'>): Promise<Person | null> {
  const client = createClient({
    url: new URL('/graphql', location.href).href,
    token,
    // As a method `fetch` would have the client for its `this`, which browsers refuse.
    fetch: (...call) => fetch(...call),
  })
  try {
    const { viewer } = await client.query(VIEWER)
    return viewer && { name: `“${viewer.name}” (${viewer.role})`, isAdministrator: viewer.administrator }
  } catch (error) {
    const isRefused = error instanceof ClientError && error.kind === 'unauthorized'
    return isRefused ? null : UNKNOWN
  } finally {
    void client.close()
  }
}
