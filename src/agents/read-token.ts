import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'

/** More than any token has. */
const MAX_BYTES = 64 * 1024

/**
 * The agent's token, from a file, `-` for standard input. Null: it is not there, or it is none. The environment and the
 * arguments of a process can be read by what it starts, and by all else of its user.
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
