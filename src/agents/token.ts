import type { ChildProcess } from 'node:child_process'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'

/** More than any token has. */
const MAX_BYTES = 64 * 1024

/** Sends the token to an agent started with `--token-file -`: through its standard input, which no other process can read. */
export function sendToken({ stdin }: ChildProcess, token: string): void {
  // A process that has ended already does not read it.
  stdin?.on('error', () => {})
  stdin?.end(token)
}

/**
 * Reads the agent's token from a file, `-` for standard input. Null: the file is missing or holds no token. The environment
 * and the arguments of a process would show it to its children and to all processes of its user.
 */
export async function readToken(file: string): Promise<string | null> {
  try {
    const token = (await readAll(file === '-' ? process.stdin : createReadStream(file))).trim()
    return token === '' || /\s/.test(token) ? null : token
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
