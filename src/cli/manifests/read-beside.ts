import { realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import type { Io } from '../terminal/io.ts'
import { type InputText, readExactly } from '../terminal/read-input.ts'

/**
 * Reads a file that a manifest names. It must be in the manifest's folder, links followed, so that a foreign manifest
 * uploads no other file of this machine.
 */
export async function readBeside(folder: string, name: string, stdin: Io['stdin']): Promise<InputText> {
  const file = resolve(folder, name)
  const [root, target] = await Promise.all([folder, file].map((path) => realpath(path).catch(() => null)))
  // The read below reports why the path cannot be resolved.
  if (!root || !target || isWithin(root, target)) return await readExactly(file, stdin)
  return { ok: false, message: `${name} is outside of the folder of the manifest: copy it there.` }
}

const isWithin = (root: string, path: string): boolean => path.startsWith(root.endsWith(sep) ? root : root + sep)
