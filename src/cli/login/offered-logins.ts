import { z } from 'zod'
import { isPrivateUrl } from '../../core/loopback.ts'
import { boundedFetch } from '../../sign-in/bounded-fetch.ts'
import type { OfferedLogin } from '../../sign-in/index.ts'
import { certificateHint } from '../connection.ts'
import { LoginProblem } from './login-problem.ts'

const PATH = '/.well-known/phaseline'

const text = z.string().min(1).max(1_000)
const login = z.object({
  issuer: z.url().max(1_000),
  clientId: text,
  deviceClientId: text,
  scope: text,
  resource: text.nullable(),
  token: z.enum(['access', 'id']),
})
/** Members that are not known are those of newer servers. */
const document = z.object({ logins: z.array(login).max(100) })

/**
 * The login that the server at this URL offers, of the issuer that has this URL or host if several do.
 * @throws LoginProblem
 */
export async function chooseLogin(url: string, wanted: string | undefined, signal: AbortSignal): Promise<OfferedLogin> {
  const { host } = new URL(url)
  if (!isPrivateUrl(url))
    throw new LoginProblem(
      'INVALID_INPUT',
      `${host} is called over http, where others could read the token: use https.`,
    )
  const logins = await readLogins(url, signal)
  if (logins.length === 0)
    throw new LoginProblem(
      'LOGIN_UNAVAILABLE',
      `The server at ${host} signs nobody in: its access policy has no login. Use one of its tokens, with PHASELINE_TOKEN or --token-file.`,
    )
  const matching = logins.filter(
    ({ issuer }) => wanted === undefined || [issuer, new URL(issuer).host].includes(wanted),
  )
  const [chosen, other] = matching
  if (!chosen || other) {
    const names = logins.map(({ issuer }) => `--issuer ${issuer}`).join(', ')
    throw new LoginProblem('INVALID_INPUT', `Say where to sign in, with one of: ${names}`)
  }
  if (!isPrivateUrl(chosen.issuer))
    throw new LoginProblem('LOGIN_UNAVAILABLE', `The issuer ${chosen.issuer} is not safe: it is not at https.`)
  return chosen
}

/** @throws LoginProblem */
async function readLogins(url: string, signal: AbortSignal): Promise<readonly OfferedLogin[]> {
  const { href, host } = new URL(PATH, url)
  const response = await boundedFetch(href, { signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new LoginProblem('LOGIN_UNAVAILABLE', `Cannot reach the server at ${host}: ${reasonOf(error)}`, {
      cause: error,
    })
  })
  const body: unknown = await response.json().catch(() => null)
  const { success, data } = document.safeParse(body)
  if (response.ok && success) return data.logins
  throw new LoginProblem(
    'LOGIN_UNAVAILABLE',
    `${href} (status ${response.status}) is not that of a Phaseline server with sign-in.`,
  )
}

/** `fetch` hides the reason in its error's cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const reason = (cause instanceof Error && cause.message) || code || 'the request failed'
  return `${reason}${certificateHint(reason)}`
}
