import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { findUrl, tokenSetting, type UrlOptions } from '../connection.ts'
import { CONTEXT_NAME_HELP, isContextName, useContext } from '../contexts.ts'
import type { DeviceCode } from '../login/device-flow.ts'
import { LoginProblem } from '../login/login-problem.ts'
import { describeWho } from '../login/who.ts'
import { withUrlOption } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Io, printJson, printLine } from '../terminal/io.ts'
import { duration } from '../terminal/text.ts'

interface LoginOptions extends UrlOptions {
  readonly issuer?: string
  readonly context?: string
  readonly json?: boolean
}

/** `phaseline login`. */
export function addLogin(command: Command, cli: Cli): void {
  withUrlOption(command)
    .option('--issuer <issuer>', 'its URL or host, where the server accepts several')
    .option('--context <name>', 'keep the server under this name, and have commands call it')
    .option('--json', 'print JSON: the code as soon as there is one, then who you are, one document per line')
    .action(async (options: LoginOptions) => {
      cli.exitCode = await withUrl(cli.io, options, (url) => login(cli.io, url, options))
    })
}

/** `phaseline logout`. */
export function addLogout(command: Command, cli: Cli): void {
  withUrlOption(command)
    .option('--json', 'print JSON')
    .action(async (options: LoginOptions) => {
      cli.exitCode = await withUrl(cli.io, options, (url) => logout(cli.io, url, options))
    })
}

async function withUrl(
  { env, stdout, stderr }: Io,
  options: LoginOptions,
  body: (url: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    const found = await findUrl(options, env)
    if (!found.ok) throw new LoginProblem('INVALID_INPUT', found.message)
    return await body(found.url.href)
  } catch (error) {
    if (!(error instanceof LoginProblem)) throw error
    const { code, message } = error
    if (options.json) printJson(stdout, { error: { code, message } })
    else printLine(stderr, message)
    return error.exitCode
  }
}

async function login(io: Io, url: string, { issuer, context, json = false }: LoginOptions): Promise<ExitCode> {
  const { stdout, stderr, env } = io
  if (context !== undefined && !isContextName(context)) throw new LoginProblem('INVALID_INPUT', CONTEXT_NAME_HELP)
  const { login: signIn } = await import('../login/login.ts')
  const show = (code: DeviceCode): void => {
    if (json) printJson(stdout, code)
    else for (const line of instructions(code)) printLine(stderr, line)
  }
  const { viewer, issuer: name, renews } = await signIn({ url, issuer, show }, io)
  if (context !== undefined) useContext(env, context, url)
  if (json) printJson(stdout, { viewer, url, issuer: name, renews })
  else printLine(stdout, `You are signed in to ${url} as ${describeWho(viewer)}.`)
  if (context !== undefined && !json) printLine(stdout, `Commands call ${context}.`)
  const setting = tokenSetting({}, env)
  if (setting) printLine(stderr, `${setting} is set, and goes before this sign-in.`)
  if (!renews) printLine(stderr, `${name} gives no refresh token: the sign-in ends with its token.`)
  return EXIT.ok
}

function instructions(code: DeviceCode): string[] {
  const { issuer, userCode, verificationUri, verificationUriComplete, expiresInS } = code
  return [
    `Sign in at ${issuer}: open this address in a browser, on any machine,`,
    `  ${verificationUriComplete ?? verificationUri}`,
    `and ${verificationUriComplete ? 'compare' : 'enter'} the code ${userCode}. It is valid for ${duration(expiresInS * 1_000)}.`,
  ]
}

async function logout(io: Io, url: string, { json = false }: LoginOptions): Promise<ExitCode> {
  const { logout: signOut } = await import('../login/login.ts')
  const ended = await signOut(url, io)
  if (json) printJson(io.stdout, { url, issuer: ended?.issuer ?? null, revoked: ended?.revoked ?? null })
  else printLine(io.stdout, ended ? `You are signed out of ${url}.` : `Nobody is signed in to ${url} here.`)
  if (ended?.revoked === 'unknown')
    printLine(io.stderr, `${ended.issuer} offers no revocation: its tokens expire by themselves.`)
  if (ended?.revoked !== 'failed') return EXIT.ok
  printLine(io.stderr, `${ended.issuer} did not answer: end the session there.`)
  return EXIT.unavailable
}
