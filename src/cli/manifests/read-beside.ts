import { realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import type { Io } from '../terminal/io.ts'
import { type InputText, readExactly } from '../terminal/read-input.ts'

/**
 * Reads a file that a manifest names. It must be in the manifest's folder, links followed, so that a foreign manifest
 * uploads no other file of this machine.
 */
export async function readBeside(folder: string, name: string, stdin: Io['stdin']): Promise<InputText> {
  if (await isBeside(folder, name)) return await readExactly(resolve(folder, name), stdin)
  return { ok: false, message: `${name} is outside of the folder of the manifest: copy it there.` }
}

/** True for a path in the folder, links followed, and for one that does not exist: reading it says why. */
export async function isBeside(folder: string, name: string): Promise<boolean> {
  const [root, target] = await Promise.all(
    [folder, resolve(folder, name)].map((path) => realpath(path).catch(() => null)),
  )
  return !root || !target || root === target || target.startsWith(root.endsWith(sep) ? root : root + sep)
}
