import * as oauth from 'oauth4webapi'
import type { OfferedLogin } from '../core/ports/login.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { SignIn } from './sign-in.ts'

/**
 * Requests of a public client to an issuer, common to all ways to sign in: RFC 6749, 7009, 8414. Loaded only when
 * needed.
 */

/** Nothing but a new sign-in helps. */
export class SignInEnded extends Error {
  override message = 'Your sign-in has ended.'
}

/** The issuer's own description of itself. */
export async function discover(login: OfferedLogin): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(login.issuer)
  return await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, optionsOf(login)))
}

/** The server offers issuers over http on its own machine only. */
export const optionsOf = ({ issuer, resource }: OfferedLogin) => ({
  [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  [oauth.customFetch]: boundedFetch,
  ...(resource && { additionalParameters: { resource } }),
})

/** @throws SignInEnded, or another error when the issuer does not answer as it should */
export async function renewSignIn({ login, clientId, refreshToken }: SignIn): Promise<SignIn> {
  if (refreshToken === null) throw new SignInEnded()
  const server = await discover(login)
  const client = { client_id: clientId }
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, optionsOf(login))
  try {
    const answer = await oauth.processRefreshTokenResponse(server, client, response)
    return signInOf({ login, clientId, refreshToken }, answer)
  } catch (error) {
    throw isRefusal(error) ? new SignInEnded() : error
  }
}

/** An issuer that is overloaded says so in the same form, with another status. */
const isRefusal = (error: unknown): boolean =>
  error instanceof oauth.ResponseBodyError && error.status < 500 && error.status !== 429

/** Revokes the tokens at the issuer. False: it has no endpoint for that. */
export async function revokeSignIn({ login, clientId, token, refreshToken }: SignIn): Promise<boolean> {
  const server = await discover(login)
  if (!server.revocation_endpoint) return false
  const client = { client_id: clientId }
  const response = await oauth.revocationRequest(server, client, oauth.None(), refreshToken ?? token, optionsOf(login))
  await oauth.processRevocationResponse(response)
  return true
}

type Begun = Pick<SignIn, 'login' | 'clientId' | 'refreshToken'>

/** The sign-in that the answer of a token endpoint makes. An issuer need not rotate the refresh token. */
export function signInOf({ login, clientId, refreshToken }: Begun, answer: oauth.TokenEndpointResponse): SignIn {
  const token = login.token === 'id' ? answer.id_token : answer.access_token
  if (token === undefined) throw new Error(`${login.issuer} gave no ${login.token} token.`)
  const since = Date.now()
  const expiresAt = since + lifeOf(login, answer) * 1_000
  return { login, clientId, token, refreshToken: answer.refresh_token ?? refreshToken, since, expiresAt }
}

/** Seconds. */
function lifeOf({ token }: OfferedLogin, answer: oauth.TokenEndpointResponse): number {
  const claims = token === 'id' ? oauth.getValidatedIdTokenClaims(answer) : undefined
  return claims ? claims.exp - claims.iat : (answer.expires_in ?? DEFAULT_LIFE_S)
}
/** The life of tokens whose issuer does not state it. */
const DEFAULT_LIFE_S = 300
