import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The folder in which the shop remembers its processes, ports and data: PHASELINE_STATE, or one in the folder for
 * temporary files. Never an argument, since all who may deploy choose arguments.
 */
export const STATE = process.env.PHASELINE_STATE || join(tmpdir(), 'phaseline-webshop')

/** Makes the folder, and refuses one that others could write to. */
export async function openState() {
  await mkdir(STATE, { recursive: true, mode: 0o700 })
  const { mode, uid } = await lstat(STATE)
  const me = process.getuid?.()
  if (me !== undefined && (uid !== me || (mode & 0o022) !== 0)) {
    throw new Error(`The state folder ${STATE} belongs to another user, or others may write to it.`)
  }
}

export const statePath = (...names) => join(STATE, ...names)

export async function readJson(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}

/** All or nothing, also when the process is killed meanwhile. */
export async function writeJson(path, value) {
  const draft = `${path}.${randomUUID()}.tmp`
  await writeFile(draft, JSON.stringify(value), { mode: 0o600 })
  await rename(draft, path)
}

export const remove = (path) => rm(path, { recursive: true, force: true })
