import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import type { Io } from './io.ts'

/** More than any spec that the server accepts. */
const MAX_BYTES = 16 * 1024 * 1024

type Unread = { readonly ok: false; readonly message: string }
type Bytes = { readonly ok: true; readonly bytes: Buffer } | Unread
export type InputText = { readonly ok: true; readonly text: string } | Unread

/** The text of a file, or of standard input when it is `-`. Bytes that are no UTF-8 text are refused, not replaced. */
export async function readInput(file: string, stdin: Io['stdin']): Promise<InputText> {
  const read = await readExactly(file, stdin)
  return read.ok ? { ok: true, text: read.text.replace(/^\uFEFF/, '') } : read
}

/** The same, unchanged to the byte, for data that is passed on. */
export async function readExactly(file: string, stdin: Io['stdin']): Promise<InputText> {
  const read = await readBytes(file, stdin)
  if (!read.ok) return read
  if (!isUtf8(read.bytes)) return { ok: false, message: `${shown(file)} is not UTF-8 text.` }
  if (read.bytes.includes(0))
    return { ok: false, message: `${shown(file)} holds the character NUL, which no text may.` }
  return { ok: true, text: read.bytes.toString('utf8') }
}

const shown = (file: string): string => (file === '-' ? 'Standard input' : file)

async function readBytes(file: string, stdin: Io['stdin']): Promise<Bytes> {
  try {
    const bytes = file === '-' ? await drain(stdin) : await readFile(file)
    if (bytes.length > MAX_BYTES) return { ok: false, message: `${shown(file)} is larger than 16 MB.` }
    return { ok: true, bytes }
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
