import * as oauth from 'oauth4webapi'
import { loadIssuer, type OfferedLogin, type SignIn } from 'phaseline/sign-in'
import { isReturn } from '../model/sign-in.ts'

/**
 * The authorization code flow with PKCE, as a public client: RFC 6749, 7636, 9700. Loaded only when somebody signs in so.
 */

/** State to keep until the issuer sends the browser back. */
interface Pending {
  readonly login: OfferedLogin
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  /** The address to return to, with its query and its fragment. */
  readonly path: string
  /** The sign-in outlives the browser. */
  readonly isKept: boolean
}
const PENDING = 'phaseline-signing-in'
const RETURN_PATH = '/login'
const redirectUri = (): string => new URL(RETURN_PATH, location.origin).href

/** Leaves the page for that of the issuer. */
export async function beginSignIn(login: OfferedLogin, isKept: boolean): Promise<void> {
  const { discover } = await loadIssuer()
  const server = await discover(login)
  if (!server.authorization_endpoint) throw new Error(`${login.issuer} has no page to sign in.`)
  const path = location.pathname + location.search + location.hash
  const pending: Pending = {
    login,
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    path: isReturn(location) ? '/' : path,
    isKept,
  }
  sessionStorage.setItem(PENDING, JSON.stringify(pending))
  const url = new URL(server.authorization_endpoint)
  const parameters = {
    client_id: login.clientId,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: login.scope,
    ...(login.resource && { resource: login.resource }),
    ...{ state: pending.state, nonce: pending.nonce },
    ...{ code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier), code_challenge_method: 'S256' },
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  location.assign(url)
}

/** Exchanges the code in the address, which leaves it at once. */
export async function completeSignIn(): Promise<{ readonly signIn: SignIn; readonly isKept: boolean }> {
  const returned = new URL(location.href)
  const stored = sessionStorage.getItem(PENDING)
  sessionStorage.removeItem(PENDING)
  const pending = stored === null ? null : (JSON.parse(stored) as Pending)
  history.replaceState(null, '', pending?.path ?? '/')
  if (!pending) throw new Error('This sign-in was begun in another tab, or is over.')
  const { login, verifier, state, nonce, isKept } = pending
  const { clientId } = login
  const { discover, optionsOf, signInOf } = await loadIssuer()
  const server = await discover(login)
  const client = { client_id: clientId }
  const parameters = oauth.validateAuthResponse(server, client, returned, state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri(),
    verifier,
    optionsOf(login),
  )
  const answer = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: nonce })
  return { signIn: signInOf({ login, clientId, refreshToken: null }, answer), isKept }
}
