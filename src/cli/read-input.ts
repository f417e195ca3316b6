import { readFile } from 'node:fs/promises'
import type { Io } from './io.ts'

/** More than any spec the server would take. */
const MAX_BYTES = 16 * 1024 * 1024

export type InputText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }

/** The text of a file, or of standard input when it is `-`. */
export async function readInput(file: string, stdin: Io['stdin']): Promise<InputText> {
  try {
    const bytes = file === '-' ? await drain(stdin) : await readFile(file)
    if (bytes.length > MAX_BYTES) return { ok: false, message: `${file} is larger than 16 MB.` }
    return { ok: true, text: bytes.toString('utf8').replace(/^\uFEFF/, '') }
  } catch (error) {
    return { ok: false, message: `Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}` }
  }
}

async function drain(stdin: Io['stdin']): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    chunks.push(bytes)
    if (size > MAX_BYTES) break
  }
  return Buffer.concat(chunks)
}
