import { readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

export type FoundGadget =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly message: string }

const isName = (name: string): boolean => /^[a-z0-9][a-z0-9._-]{0,127}$/i.test(name)

/**
 * The executable of that name in the first folder that has one. A name cannot lead out of the folders, not even through a
 * link.
 */
export async function findGadget(folders: readonly string[], name: string): Promise<FoundGadget> {
  if (!isName(name)) {
    return { ok: false, message: `${JSON.stringify(name.slice(0, 128))} is not a gadget's name: no slashes, no paths.` }
  }
  for (const folder of folders) {
    const found = await gadgetAt(folder, name)
    if (found) return found
  }
  return { ok: false, message: await notFound(folders, name) }
}

/** Null: there is nothing of that name. */
async function gadgetAt(folder: string, name: string): Promise<FoundGadget | null> {
  const path = await realpath(join(folder, name)).catch(() => null)
  if (path === null) return null
  const root = await realpath(folder)
  if (!path.startsWith(root + sep)) return { ok: false, message: `The gadget ${name} lies outside of its folder.` }
  const stats = await stat(path)
  const isExecutable = stats.isFile() && (stats.mode & 0o111) !== 0
  return isExecutable ? { ok: true, path } : { ok: false, message: `The gadget ${name} is not executable.` }
}

/** Names in a message. */
const MOST = 20

async function notFound(folders: readonly string[], name: string): Promise<string> {
  if (folders.length === 0) return `There is no gadget ${name}: PHASELINE_GADGETS names no folder.`
  const names = (await Promise.all(folders.map(gadgetsIn))).flat().sort()
  const rest = names.length > MOST ? ` and ${names.length - MOST} more` : ''
  const there = names.length === 0 ? 'there is none' : `there are ${names.slice(0, MOST).join(', ')}${rest}`
  return `There is no gadget ${name} in ${folders.join(', ')}: ${there}. PHASELINE_GADGETS names the folders.`
}

async function gadgetsIn(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(() => [])).filter(isName)
  const found = await Promise.all(names.map(async (name) => ((await gadgetAt(folder, name))?.ok ? [name] : [])))
  return found.flat()
}
