import type { ChildProcess } from 'node:child_process'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { Secret } from '../core/secret.ts'
import { TRACING_SECRETS } from '../tracing/settings.ts'
import { type AgentArguments, UsageError } from './arguments.ts'

/** More than any token has. */
const MAX_BYTES = 64 * 1024

/**
 * Sends the token to an agent started with `--token-file -`: through its standard input, which no other process can read. A
 * second line has the headers for the collector of traces.
 */
export function sendSecrets({ stdin }: ChildProcess, token: Secret, traceHeaders: Secret | null = null): void {
  // A process that has ended already does not read it.
  stdin?.on('error', () => {})
  stdin?.end([token, ...(traceHeaders ? [traceHeaders] : [])].map((secret) => secret.reveal()).join('\n'))
}

/** The agent's token, from its file or else from PHASELINE_TOKEN. Throws a UsageError if there is none. */
export async function loadToken(
  { tokenFile }: Pick<AgentArguments, 'tokenFile'>,
  env: NodeJS.ProcessEnv,
): Promise<Secret> {
  const token = tokenFile === undefined ? tokenIn(env) : await readToken(tokenFile, env)
  // Processes that this one starts must not inherit it.
  delete env.PHASELINE_TOKEN
  if (!token) throw new UsageError('--token-file must hold the agent’s token, or PHASELINE_TOKEN.')
  return token
}

const [TRACE_HEADERS] = TRACING_SECRETS

const tokenIn = ({ PHASELINE_TOKEN: token }: NodeJS.ProcessEnv): Secret | null => (token ? new Secret(token) : null)

/**
 * Reads the token from a file, `-` for standard input. Null: the file is missing or holds no token. The environment
 * and the arguments of a process would show it to its children and to all processes of its user.
 */
async function readToken(file: string, env: NodeJS.ProcessEnv): Promise<Secret | null> {
  try {
    const text = (await readAll(file === '-' ? process.stdin : createReadStream(file))).trim()
    const [token = '', headers, ...more] = file === '-' ? text.split('\n') : [text]
    if (more.length > 0) return null
    // Only in this process: what others may read was fixed when it started.
    if (headers) env[TRACE_HEADERS] = headers
    return token === '' || /\s/.test(token) ? null : new Secret(token)
  } catch {
    return null
  }
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_BYTES) throw new RangeError('too long for a token')
  }
  return Buffer.concat(chunks).toString('utf8')
}
