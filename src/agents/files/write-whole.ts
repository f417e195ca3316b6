import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'

/** Writes a private file that appears with its whole content, or not at all. */
export async function writeWhole(file: string, text: string | Uint8Array): Promise<void> {
  // A name of its own: several writers may replace the file at the same time.
  const draft = `${file}.${randomUUID()}.tmp`
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, file)
}
