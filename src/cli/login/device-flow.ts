import * as oauth from 'oauth4webapi'
import { pause } from '../../client/pause.ts'
import { isPrivateUrl } from '../../core/loopback.ts'
import type { OfferedLogin, SignIn } from '../../sign-in/index.ts'
import { discover, optionsOf, signInOf } from '../../sign-in/issuer.ts'
import { LoginProblem } from './login-problem.ts'
import { reasonOf } from './offered-logins.ts'

/** OAuth 2.0 device authorization (RFC 8628). Loaded only by `login`. */

/** The code that a person enters, and its URL. Texts of the issuer, made safe for a terminal. */
export interface DeviceCode {
  readonly issuer: string
  readonly userCode: string
  readonly verificationUri: string
  /** The address with the code in it; null: the issuer gives none. */
  readonly verificationUriComplete: string | null
  readonly expiresInS: number
}

/** Seconds between two questions, unless the issuer says another number. */
const INTERVAL_S = 5
const SLOWER_S = 5
/** Bounds the issuer's value. */
const MIN_INTERVAL_S = 1
const MAX_INTERVAL_S = 60
/** Bounds the issuer's value. */
const MAX_LIFE_S = 3_600
/** A person enters it. */
const MAX_CODE_LENGTH = 64

/**
 * Signs in with the help of a browser anywhere. `show` is called with what to do there.
 * @throws LoginProblem, or the reason of the signal
 */
export async function signInByDevice(
  login: OfferedLogin,
  { show, signal }: { readonly show: (code: DeviceCode) => void; readonly signal: AbortSignal },
): Promise<SignIn> {
  const issuer = await openIssuer(login, signal)
  const device = await authorize(issuer)
  if (device.user_code.length > MAX_CODE_LENGTH) throw unusable(login, 'a code that nobody can enter')
  const expiresInS = Math.min(device.expires_in, MAX_LIFE_S)
  const { verification_uri_complete: complete = null } = device
  show({
    issuer: login.issuer,
    userCode: device.user_code,
    verificationUri: pageOf(device.verification_uri, login),
    verificationUriComplete: complete === null ? null : pageOf(complete, login),
    expiresInS,
  })
  const answer = await poll(issuer, device, expiresInS)
  return signInOf({ login, clientId: issuer.client.client_id, refreshToken: null }, answer)
}

interface Issuer {
  readonly login: OfferedLogin
  readonly server: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly signal: AbortSignal
}

async function openIssuer(login: OfferedLogin, signal: AbortSignal): Promise<Issuer> {
  const server = await discover(login).catch((error: unknown) => {
    throw new LoginProblem('ISSUER_UNREACHABLE', `The issuer ${login.issuer} cannot be reached: ${reasonOf(error)}`)
  })
  signal.throwIfAborted()
  if (server.device_authorization_endpoint)
    return { login, server, client: { client_id: login.deviceClientId }, signal }
  throw new LoginProblem(
    'LOGIN_UNAVAILABLE',
    `The issuer ${login.issuer} has no sign-in for devices (RFC 8628), which this program needs: turn it on there.`,
  )
}

async function authorize({ login, server, client, signal }: Issuer): Promise<oauth.DeviceAuthorizationResponse> {
  const { resource, scope } = login
  const parameters = { scope, ...(resource && { resource }) }
  const options = { ...optionsOf(login), signal }
  try {
    const response = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), parameters, options)
    return await oauth.processDeviceAuthorizationResponse(server, client, response)
  } catch (error) {
    signal.throwIfAborted()
    throw problemOf(error, login)
  }
}

/** Asks until the person has decided. */
async function poll(
  { login, server, client, signal }: Issuer,
  { device_code: code, interval = INTERVAL_S }: oauth.DeviceAuthorizationResponse,
  expiresInS: number,
): Promise<oauth.TokenEndpointResponse> {
  const endsAt = performance.now() + expiresInS * 1_000
  const options = { ...optionsOf(login), signal }
  for (let intervalS = interval; ; ) {
    await pause(Math.max(MIN_INTERVAL_S, Math.min(intervalS, MAX_INTERVAL_S)) * 1_000, signal)
    signal.throwIfAborted()
    if (performance.now() > endsAt) throw expired()
    try {
      const response = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), code, options)
      return await oauth.processDeviceCodeResponse(server, client, response)
    } catch (error) {
      signal.throwIfAborted()
      intervalS = nextInterval(error, intervalS, login)
    }
  }
}

/** Seconds until the next question. @throws LoginProblem when there is none */
function nextInterval(error: unknown, intervalS: number, login: OfferedLogin): number {
  if (error instanceof oauth.ResponseBodyError) {
    if (error.error === 'authorization_pending') return intervalS
    if (error.error === 'slow_down') return intervalS + SLOWER_S
  }
  // By RFC 8628 a client that gets no answer asks half as often.
  if (isPassing(error)) return intervalS * 2
  throw problemOf(error, login)
}

/** There was no answer, or one of a server that is down or has too much to do. */
function isPassing(error: unknown): boolean {
  const isAnswer = error instanceof oauth.ResponseBodyError || error instanceof oauth.OperationProcessingError
  if (!isAnswer) return true
  const { status = 0 } = error instanceof oauth.ResponseBodyError ? error : ((error.cause ?? {}) as { status?: number })
  return status === 429 || status >= 500
}

function problemOf(error: unknown, { issuer, deviceClientId }: OfferedLogin): LoginProblem {
  const name = issuer
  if (!(error instanceof oauth.ResponseBodyError))
    return new LoginProblem('ISSUER_UNREACHABLE', `The issuer ${name} does not answer as it should: ${reasonOf(error)}`)
  switch (error.error) {
    case 'access_denied':
      return new LoginProblem('ACCESS_DENIED', 'The sign-in was denied in the browser.')
    case 'expired_token':
      return expired()
    default:
      return new LoginProblem(
        'LOGIN_REFUSED',
        `The issuer ${name} refuses a sign-in by device of its client ${deviceClientId}: ` +
          `${error.error}${error.error_description ? ` (${error.error_description})` : ''}`,
      )
  }
}

const expired = (): LoginProblem =>
  new LoginProblem('EXPIRED_TOKEN', 'Nobody has entered the code in time: run the command again for another one.')

/** A person opens it, and enters a password there. */
function pageOf(text: string, login: OfferedLogin): string {
  const url = URL.parse(text)
  if (url && isPrivateUrl(url.href)) return url.href
  throw unusable(login, 'no address of a page to sign in that is at https')
}

const unusable = ({ issuer }: OfferedLogin, what: string): LoginProblem =>
  new LoginProblem('ISSUER_UNREACHABLE', `The issuer ${issuer} gives ${what}.`)
