import { realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import type { Io } from '../terminal/io.ts'
import { type InputText, readExactly } from '../terminal/read-input.ts'

/**
 * A file that a manifest names. Only what is in the manifest's folder is read, links followed, so that a manifest of
 * somebody else uploads nothing else of this machine.
 */
export async function readBeside(folder: string, name: string, stdin: Io['stdin']): Promise<InputText> {
  const file = resolve(folder, name)
  const [root, target] = await Promise.all([folder, file].map((path) => realpath(path).catch(() => null)))
  // Reading the file says why it has no real path.
  if (!root || !target || isWithin(root, target)) return await readExactly(file, stdin)
  return { ok: false, message: `${name} is outside of the folder of the manifest: copy it there.` }
}

const isWithin = (root: string, path: string): boolean => path.startsWith(root.endsWith(sep) ? root : root + sep)
