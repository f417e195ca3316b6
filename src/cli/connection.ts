import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ClientError } from '../client/client-error.ts'
import { endpointOf } from '../client/endpoint.ts'
import type { ClientOptions } from '../client/index.ts'
import { isLoopback } from '../core/loopback.ts'
import { readServedAddress } from '../process/served-address.ts'
import { freshTokens } from '../sign-in/index.ts'
import { currentUrl } from './contexts.ts'
import { SignInFile } from './login/sign-in-file.ts'
import { type Io, printLine } from './terminal/io.ts'

export const DEFAULT_URL = 'http://127.0.0.1:4000/graphql'

export interface UrlOptions {
  readonly url?: string
}
export interface ConnectionOptions extends UrlOptions {
  readonly tokenFile?: string
}
export interface Connection {
  readonly url: string
  readonly token: ClientOptions['token']
  /** The token's source, in words. */
  readonly source: string
}
type Problem = { readonly ok: false; readonly message: string }
export type Connecting = ({ readonly ok: true } & Connection) | Problem

type FoundUrl = { readonly ok: true; readonly url: URL } | Problem

/** The address of the GraphQL endpoint: that of the data folder's server, unless another one is named. */
export const findUrl = async (options: UrlOptions, env: Io['env']): Promise<FoundUrl> =>
  judgeUrl(namedUrl(options, env) ?? (await readServedAddress(dataFolder(env))) ?? DEFAULT_URL)

const namedUrl = ({ url }: UrlOptions, env: Io['env']): string | undefined =>
  url ?? (env.PHASELINE_URL || currentUrl(env))

const dataFolder = (env: Io['env']): string => env.PHASELINE_DATA || '.phaseline'

export function judgeUrl(text: string): FoundUrl {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    // It may hold a password.
    return { ok: false, message: `${JSON.stringify(text.replace(/.*@/s, '…@'))} is not an http or https URL.` }
  }
  if (url.username || url.password) {
    return { ok: false, message: 'The URL must not hold credentials: use PHASELINE_TOKEN or --token-file.' }
  }
  return { ok: true, url: endpointOf(url) }
}

/** The option or variable that overrides a sign-in. */
export const tokenSetting = ({ tokenFile }: ConnectionOptions, env: Io['env']): string | undefined => {
  if (tokenFile !== undefined) return '--token-file'
  return ['PHASELINE_TOKEN', 'PHASELINE_TOKEN_FILE'].find((name) => env[name])
}

/**
 * Finds the server's address and a token: `--token-file`, then PHASELINE_TOKEN, then the file that PHASELINE_TOKEN_FILE
 * names, then the sign-in at this server, then the token file of the embedded data folder. The last one is for the server of
 * that folder only, since it must reach neither another machine nor another program that has taken the port.
 */
export async function findConnection(options: ConnectionOptions, io: Pick<Io, 'env' | 'stderr'>): Promise<Connecting> {
  const { env, stderr } = io
  const found = await findUrl(options, env)
  if (!found.ok) return found
  const { href: url, hostname, host } = found.url
  const source = tokenSetting(options, env)
  if (source === 'PHASELINE_TOKEN') return { ok: true, url, token: env.PHASELINE_TOKEN ?? '', source }
  if (source !== undefined) return withToken(url, await readToken(options.tokenFile ?? env.PHASELINE_TOKEN_FILE ?? ''))
  const file = new SignInFile(url, env, (problem) => printLine(stderr, problem))
  const signIn = await file.read()
  if (signIn) return { ok: true, url, token: freshTokens(file), source: `sign-in at ${signIn.login.issuer}` }
  if (!isLoopback(hostname)) {
    return { ok: false, message: `No token for ${host}: ${REMEDY}.` }
  }
  const served = await connectToServed(dataFolder(env), found.url)
  // Nobody who has named a server asks for that of the folder.
  return served.ok || namedUrl(options, env) === undefined
    ? served
    : { ok: false, message: `No token for ${host}. ${served.message}` }
}

/** The connection to the server of a data folder by the folder's token, if the URL names that server. */
async function connectToServed(folder: string, given: URL): Promise<Connecting> {
  const url = await servedUrl(folder, given)
  if (typeof url !== 'string') return { ok: false, message: `${url.problem}, or ${REMEDY}.` }
  const read = await readToken(join(folder, 'token'))
  if ('problem' in read) return { ok: false, message: read.problem }
  return { ok: true, url, token: whileServed(read.token, folder, given), source: read.path }
}

/** A client that connects again asks for the token again: the server may have ended meanwhile. */
const whileServed = (token: string, folder: string, given: URL) => async (): Promise<string> => {
  const url = await servedUrl(folder, given)
  if (typeof url === 'string') return token
  throw new ClientError('network', `${url.problem}.`)
}

/** The given URL with the address of the folder's server, which may have another name of this machine. */
async function servedUrl(folder: string, given: URL): Promise<string | { readonly problem: string }> {
  const origin = await readServedAddress(folder)
  if (origin === null)
    return {
      problem: `No server runs on the data folder ${resolve(folder)}: start it with \`phaseline serve\`, go to the folder of one that runs, name its data folder in PHASELINE_DATA`,
    }
  const served = new URL(origin)
  const isSame = given.protocol === served.protocol && given.port === served.port && isLoopback(served.hostname)
  if (!isSame)
    return { problem: `The token in ${folder} is for ${origin} only, and not for ${given.origin}: call that` }
  // With encryption the certificate has the given name, and shows who answers.
  if (given.protocol === 'http:') return new URL(given.pathname + given.search, origin).href
  return given.href
}

/** The remedy for a missing or rejected token. */
export const REMEDY = 'run `phaseline login`, set PHASELINE_TOKEN or give --token-file'

/** The sources of the address. */
export const ADDRESS_HINT = ' (--url, PHASELINE_URL or a context names another server)'

/** The remedy for an untrusted certificate; empty for other problems. */
export const certificateHint = (problem: string): string =>
  /certificate/.test(problem) ? ' (NODE_EXTRA_CA_CERTS names the file of a private authority)' : ''

/** Why there is no answer, and what to do. */
export function describeClientError({ kind, message: said }: ClientError): string {
  switch (kind) {
    case 'network':
      return `Cannot reach the server: ${said}${certificateHint(said) || ADDRESS_HINT}`
    case 'unauthorized':
      return `Not authorised: ${said} (${REMEDY})`
    case 'http':
      return `The server did not answer as a GraphQL server: ${said}`
    case 'graphql':
      return `The server could not answer: ${said}`
    default:
      return kind satisfies never
  }
}

function withToken(url: string, read: TokenRead): Connecting {
  return 'token' in read
    ? { ok: true, url, token: read.token, source: read.path }
    : { ok: false, message: read.problem }
}

type TokenRead = { readonly token: string; readonly path: string } | { readonly problem: string }

async function readToken(path: string): Promise<TokenRead> {
  try {
    const token = (await readFile(path, 'utf8')).trim()
    if (token !== '' && !/\s/.test(token)) return { token, path }
    return { problem: `${path} does not hold a token.` }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return { problem: `No token: cannot read ${path} (${code}). You can also ${REMEDY}.` }
  }
}
