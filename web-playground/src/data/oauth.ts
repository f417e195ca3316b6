import * as oauth from 'oauth4webapi'
import { isReturn, type Login, type SignIn } from '../model/sign-in.ts'

/**
 * The authorization code flow with PKCE, as a public client: RFC 6749, 7636, 9700. Loaded only when somebody signs in so.
 */

/** What must be known when the issuer sends the browser back. */
interface Pending {
  readonly login: Login
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  /** Where to go on afterwards. */
  readonly path: string
}
const PENDING = 'phaseline-signing-in'
const RETURN_PATH = '/login'
const redirectUri = (): string => new URL(RETURN_PATH, location.origin).href

/** Leaves the page for that of the issuer. */
export async function beginSignIn(login: Login): Promise<void> {
  const server = await discover(login)
  if (!server.authorization_endpoint) throw new Error(`${login.issuer} has no page to sign in.`)
  const path = location.pathname + location.search
  const pending: Pending = {
    login,
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    path: isReturn(location) ? '/' : path,
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
export async function completeSignIn(): Promise<SignIn> {
  const returned = new URL(location.href)
  const stored = sessionStorage.getItem(PENDING)
  sessionStorage.removeItem(PENDING)
  const pending = stored === null ? null : (JSON.parse(stored) as Pending)
  history.replaceState(null, '', pending?.path ?? '/')
  if (!pending) throw new Error('This sign-in was begun in another tab, or is over.')
  const { login, verifier, state, nonce } = pending
  const server = await discover(login)
  const client = { client_id: login.clientId }
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
  return signInOf(login, answer, null)
}

/** @throws oauth.ResponseBodyError when the issuer has ended the sign-in */
export async function renewSignIn({ login, refreshToken }: SignIn): Promise<SignIn> {
  if (refreshToken === null) throw new SignInEnded()
  const server = await discover(login)
  const client = { client_id: login.clientId }
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, optionsOf(login))
  try {
    return signInOf(login, await oauth.processRefreshTokenResponse(server, client, response), refreshToken)
  } catch (error) {
    throw error instanceof oauth.ResponseBodyError ? new SignInEnded() : error
  }
}

/** Nothing but a new sign-in helps. */
export class SignInEnded extends Error {
  override message = 'Your sign-in has ended.'
}

/** Tells the issuer that the tokens are not needed any more. */
export async function revokeSignIn({ login, refreshToken }: SignIn): Promise<void> {
  const server = await discover(login)
  if (refreshToken === null || !server.revocation_endpoint) return
  const client = { client_id: login.clientId }
  await oauth.revocationRequest(server, client, oauth.None(), refreshToken, optionsOf(login))
}

async function discover(login: Login): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(login.issuer)
  return await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, optionsOf(login)))
}

/** The server offers issuers over http on its own machine only. */
const optionsOf = ({ issuer, resource }: Login) => ({
  [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  ...(resource && { additionalParameters: { resource } }),
})

/** An issuer need not rotate the refresh token. */
function signInOf(login: Login, answer: oauth.TokenEndpointResponse, before: string | null): SignIn {
  const token = login.token === 'id' ? answer.id_token : answer.access_token
  if (token === undefined) throw new Error(`${login.issuer} gave no ${login.token} token.`)
  const since = Date.now()
  const expiresAt = since + lifeOf(login, answer) * 1_000
  return { login, token, refreshToken: answer.refresh_token ?? before, since, expiresAt }
}

/** Seconds. */
function lifeOf({ token }: Login, answer: oauth.TokenEndpointResponse): number {
  const claims = token === 'id' ? oauth.getValidatedIdTokenClaims(answer) : undefined
  return claims ? claims.exp - claims.iat : (answer.expires_in ?? DEFAULT_LIFE_S)
}
/** Of tokens whose issuer does not tell. */
const DEFAULT_LIFE_S = 300
