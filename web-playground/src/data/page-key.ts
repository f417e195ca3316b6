import { ClientError } from 'phaseline/client'

/**
 * The sign-in of this browser, for all tabs of this origin. Its token is in a cookie, sealed, and no script reads it. This is the key that
 * opens the cookie, which pages send in place of a token. The cookie alone is worth nothing, so no other page can use it.
 */
const KEY = 'phaseline-page-key'
/** Changes whenever a tab has put a fresh token into the cookie. */
const RENEWED = 'phaseline-renewed'

/** Null: nobody is signed in. */
export const pageKey = (): string | null => localStorage.getItem(KEY)

/**
 * Signs all tabs in. Each sign-in has a key of its own, so a tab that still has the one before cannot act for somebody else.
 * @param isKept the sign-in outlives the browser
 * @returns the key
 * @throws ClientError, `unauthorized` if the server does not accept the token
 */
export async function signIn(token: string, isKept: boolean): Promise<string> {
  const key = newKey()
  await ending
  await fillCookie({ token, key, isKept })
  localStorage.setItem(KEY, key)
  return key
}

/** Puts a fresh token into the cookie of the same sign-in, and wakes tabs whose token had expired. */
export async function renewCookie(renewed: CookieContent): Promise<void> {
  // Meanwhile somebody may have signed out, or in as somebody else.
  if (pageKey() !== renewed.key) return
  await fillCookie(renewed)
  localStorage.setItem(RENEWED, String(Date.now()))
}

/** The cookie of a new sign-in must not end with the one before. */
let ending: Promise<unknown> = Promise.resolve()

/** Signs all tabs out, even if the server is away: without its key the cookie is worth nothing. */
export function signOut(): void {
  localStorage.removeItem(KEY)
  ending = fetch('/sign-in', { method: 'DELETE', keepalive: true }).catch(() => undefined)
}

/** Calls it when another tab has signed in or out, or has renewed the sign-in. */
export function watchSignIn(changed: () => void, signal: AbortSignal): void {
  const listen = ({ key }: StorageEvent): void => {
    // Null: everything was removed.
    if (key === KEY || key === RENEWED || key === null) changed()
  }
  addEventListener('storage', listen, { signal })
}

/**
 * The browser's `fetch`, which refuses to be called as a method.
 * @param hasToken the caller sends a token, and needs no cookie, which may be as large: a request has room for one
 */
export const fetchWith =
  (hasToken: boolean): typeof fetch =>
  (input, init) =>
    fetch(input, { ...init, credentials: hasToken ? 'omit' : 'same-origin' })

interface CookieContent {
  readonly token: string
  readonly key: string
  readonly isKept: boolean
}

const TOO_MANY_REQUESTS = 429
const KEY_BYTES = 32
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  const base64 = btoa(String.fromCharCode(...bytes))
  return `pl_page_${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

async function fillCookie(content: CookieContent): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/sign-in', { method: 'POST', headers, body: JSON.stringify(content) }).catch(() => {
    throw new ClientError('network', 'The server cannot be reached.')
  })
  if (response.ok) return
  const { status } = response
  if (status === 401)
    throw new ClientError(
      'unauthorized',
      'The server does not accept this token. It may have been revoked, or belong to another server.',
      { status },
    )
  throw new ClientError('http', `The server answered ${status}: try again.`, {
    status,
    retryable: status >= 500 || status === TOO_MANY_REQUESTS,
  })
}
