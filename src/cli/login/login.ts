import { ClientError } from '../../client/client-error.ts'
import { codeOf } from '../../process/error-code.ts'
import { freshTokens, loadIssuer, type OfferedLogin, type SignIn, type SignInStore } from '../../sign-in/index.ts'
import type { Io } from '../terminal/io.ts'
import type { DeviceCode } from './device-flow.ts'
import { LoginProblem } from './login-problem.ts'
import { chooseLogin } from './offered-logins.ts'
import { SignInFile } from './sign-in-file.ts'
import { askWhoHas, type Who } from './who.ts'

export interface LoginRequest {
  /** URL of the GraphQL endpoint. */
  readonly url: string
  /** URL or host of the issuer; absent: the only one that the server offers. */
  readonly issuer: string | undefined
  /** Tells the person what to do. */
  readonly show: (code: DeviceCode) => void
}
export interface LoggedIn {
  readonly viewer: Who
  readonly issuer: string
  /** True if the sign-in can be renewed; otherwise it ends with its token. */
  readonly renews: boolean
}

/** Signs in, and keeps the sign-in for later commands. @throws LoginProblem, ClientError */
export async function login({ url, issuer, show }: LoginRequest, { env, signal }: Io): Promise<LoggedIn> {
  const chosen = await chooseLogin(url, issuer, signal)
  const { signInByDevice } = await import('./device-flow.ts')
  const held = hold(await signInByDevice(chosen, { show, signal }))
  try {
    // A token that lives for seconds may have expired on its way here.
    const viewer = await askWhoHas(freshTokens(held), url, signal)
    await replace(new SignInFile(url, env), held.signIn)
    return { viewer, issuer: chosen.issuer, renews: held.signIn.refreshToken !== null }
  } catch (error) {
    await forget(held.signIn)
    throw notAccepted(error, chosen) ?? error
  }
}

/** Keeps a sign-in in memory until the server has accepted it. */
interface Held extends SignInStore {
  readonly signIn: SignIn
}
function hold(first: SignIn): Held {
  let signIn = first
  return {
    get signIn() {
      return signIn
    },
    read: async () => signIn,
    write: async (renewed) => {
      signIn = renewed
    },
    exclusively: (renew) => renew(),
  }
}

async function replace(file: SignInFile, signIn: SignIn): Promise<void> {
  const before = await file.exclusively(async () => {
    const replaced = await file.read()
    await file.save(signIn)
    return replaced
  })
  if (before) await forget(before)
}

/** Revokes the sign-in at the issuer. If that fails, the sign-in expires by itself. */
async function forget(signIn: SignIn): Promise<void> {
  const { revokeSignIn } = await loadIssuer()
  await revokeSignIn(signIn).catch(() => undefined)
}

function notAccepted(error: unknown, { issuer, token }: OfferedLogin): LoginProblem | null {
  if (error instanceof ClientError && error.kind === 'unauthorized')
    return new LoginProblem(
      'LOGIN_UNAVAILABLE',
      `${issuer} has signed you in, but the server does not accept its ${token} tokens: compare audience and resource in its access policy.`,
    )
  if (error instanceof Error && 'syscall' in error)
    return new LoginProblem('LOGIN_UNAVAILABLE', `The sign-in cannot be kept (${codeOf(error)}): ${error.message}`)
  return null
}

/** `unknown`: the issuer has no endpoint for it. `failed`: the issuer could not be reached. */
export interface LoggedOut {
  readonly issuer: string
  readonly revoked: 'yes' | 'unknown' | 'failed'
}

/** Forgets the sign-in, here and at the issuer. Null: there was none. */
export async function logout(url: string, { env }: Io): Promise<LoggedOut | null> {
  const file = new SignInFile(url, env)
  const before = await file.exclusively(async () => {
    const removed = await file.read()
    await file.remove()
    return removed
  })
  if (!before) return null
  const { issuer } = before.login
  const { revokeSignIn } = await loadIssuer()
  try {
    return { issuer, revoked: (await revokeSignIn(before)) ? 'yes' : 'unknown' }
  } catch {
    return { issuer, revoked: 'failed' }
  }
}
