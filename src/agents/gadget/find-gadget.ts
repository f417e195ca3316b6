import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

export type FoundGadget =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly message: string }

/**
 * The executable of that name in the first folder that has one. A name cannot lead out of the folders, not even through a
 * link.
 */
export async function findGadget(folders: readonly string[], name: string): Promise<FoundGadget> {
  if (!/^[a-z0-9][a-z0-9._-]{0,127}$/i.test(name)) {
    return { ok: false, message: `${JSON.stringify(name.slice(0, 128))} is not a gadget's name: no slashes, no paths.` }
  }
  for (const folder of folders) {
    const path = await realpath(join(folder, name)).catch(() => null)
    if (path === null) continue
    const root = await realpath(folder)
    if (!path.startsWith(root + sep)) return { ok: false, message: `The gadget ${name} lies outside of its folder.` }
    const { mode, isFile } = await describe(path)
    if (!isFile || (mode & 0o111) === 0) return { ok: false, message: `The gadget ${name} is not executable.` }
    return { ok: true, path }
  }
  return { ok: false, message: `There is no gadget ${name}.` }
}

async function describe(path: string): Promise<{ readonly mode: number; readonly isFile: boolean }> {
  const stats = await stat(path)
  return { mode: stats.mode, isFile: stats.isFile() }
}
