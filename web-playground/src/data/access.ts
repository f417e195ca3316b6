import { ClientError, type ClientOptions, createClient } from 'phaseline/client'
import { VIEWER } from './documents-create.ts'
import { fetchWith, pageKey, signIn } from './page-key.ts'
import { dropSignIn, freshToken, storedSignIn } from './sign-in.ts'
import { dropOffer, offeredToken, takeToken } from './token.ts'

/** The credentials of this browser, as this tab has them: the key of its cookie, or a sign-in at an issuer that makes tokens. */
export interface Access {
  /** One for each sign-in. */
  readonly key: string
  readonly token: ClientOptions['token']
  readonly isSignIn: boolean
}

export function storedAccess(): Access | null {
  const key = pageKey()
  if (key === null) return null
  if (storedSignIn()) return { key, token: freshToken, isSignIn: true }
  // As a function: where the token has expired, the client connects again, since another tab may have renewed the cookie.
  return { key, token: () => key, isSignIn: false }
}

/**
 * Signs this browser in with the token of a link. Anybody can send one, with a token of their own, and what a person writes then would
 * be done for somebody else. So the person decides, unless it is an administrator's, which nobody else has, and nobody is signed in.
 * @returns why nobody is signed in; null: there is no link, or it was decided on
 */
export async function acceptLink(): Promise<string | null> {
  takeToken()
  const token = offeredToken()
  if (token === null) return null
  if (await isWanted(token))
    try {
      await signIn(token, false)
      dropSignIn()
    } catch (error) {
      if (error instanceof ClientError && error.retryable) return error.message
      dropOffer()
      return String(error instanceof Error ? error.message : error)
    }
  dropOffer()
  return null
}

async function isWanted(token: string): Promise<boolean> {
  const given = { token, isSignIn: true }
  const [now, next] = await Promise.all([storedAccess(), given].map((access) => access && personBehind(access)))
  // A browser in which nobody is signed in says what is wrong with the token.
  if (!next) return !now
  if (!now) return next.isAdministrator || confirm(`Sign in as ${next.name}, whose link you have opened?`)
  // The same principal gains nothing.
  if (now.id !== '' && now.id === next.id) return false
  return confirm(`You are signed in as ${now.name}. Sign in as ${next.name} instead, whose link you have opened?`)
}

interface Person {
  /** The principal's; empty: unknown. */
  readonly id: string
  readonly name: string
  readonly isAdministrator: boolean
}
const UNKNOWN: Person = { id: '', name: 'somebody whom the server does not name now', isAdministrator: false }

/** The token's owner; null: the server does not accept it. */
async function personBehind({ token, isSignIn }: Pick<Access, 'token' | 'isSignIn'>): Promise<Person | null> {
  const client = createClient({ url: new URL('/graphql', location.href).href, token, fetch: fetchWith(isSignIn) })
  try {
    const { viewer } = await client.query(VIEWER)
    return viewer && { id: viewer.id, name: `“${viewer.name}” (${viewer.role})`, isAdministrator: viewer.administrator }
  } catch (error) {
    const isRefused = error instanceof ClientError && error.kind === 'unauthorized'
    return isRefused ? null : UNKNOWN
  } finally {
    void client.close()
  }
}
