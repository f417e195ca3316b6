import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isLoopback } from '../core/loopback.ts'
import type { Io } from './terminal/io.ts'

export const DEFAULT_URL = 'http://127.0.0.1:4000/graphql'

export interface ConnectionOptions {
  readonly url?: string
  readonly tokenFile?: string
}
export interface Connection {
  readonly url: string
  readonly token: string
}
export type Connecting = ({ readonly ok: true } & Connection) | { readonly ok: false; readonly message: string }

/**
 * Finds the server's address and a token: `--token-file`, then PHASELINE_TOKEN, then the file that PHASELINE_TOKEN_FILE
 * names, then the token file of the embedded data folder. The last one is read for a server on this machine only, since
 * its token must not reach another.
 */
export async function findConnection(options: ConnectionOptions, env: Io['env']): Promise<Connecting> {
  const url = options.url ?? (env.PHASELINE_URL || DEFAULT_URL)
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    return { ok: false, message: `${JSON.stringify(url)} is not an http or https URL.` }
  }
  if (parsed.username || parsed.password) {
    return { ok: false, message: 'The URL must not hold credentials: use PHASELINE_TOKEN or --token-file.' }
  }
  if (options.tokenFile !== undefined) return withToken(url, await readToken(options.tokenFile))
  if (env.PHASELINE_TOKEN) return { ok: true, url, token: env.PHASELINE_TOKEN }
  if (env.PHASELINE_TOKEN_FILE) return withToken(url, await readToken(env.PHASELINE_TOKEN_FILE))
  if (!isLoopback(parsed.hostname)) {
    return { ok: false, message: `No token for ${parsed.host}: set PHASELINE_TOKEN or give --token-file.` }
  }
  return withToken(url, await readToken(join(env.PHASELINE_DATA || '.phaseline', 'token')))
}

function withToken(url: string, read: TokenRead): Connecting {
  return 'token' in read ? { ok: true, url, token: read.token } : { ok: false, message: read.problem }
}

type TokenRead = { readonly token: string } | { readonly problem: string }

async function readToken(path: string): Promise<TokenRead> {
  try {
    const token = (await readFile(path, 'utf8')).trim()
    if (token !== '' && !/\s/.test(token)) return { token }
    return { problem: `${path} does not hold a token.` }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return { problem: `No token: cannot read ${path} (${code}). Set PHASELINE_TOKEN or give --token-file.` }
  }
}
