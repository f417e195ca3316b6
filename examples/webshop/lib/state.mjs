import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const { PHASELINE_STATE, PHASELINE_PROJECT } = process.env
const ALL = PHASELINE_STATE || join(tmpdir(), 'phaseline-webshop')

/**
 * The folder in which the shop of a project remembers its processes, ports and data: in PHASELINE_STATE, or in one in the
 * folder for temporary files. Never an argument, since all who may deploy choose arguments.
 */
export const STATE = PHASELINE_PROJECT ? join(ALL, PHASELINE_PROJECT) : ALL

/** Makes the folder, and refuses one that others could write to. */
export async function openState() {
  for (const folder of new Set([ALL, STATE])) await openFolder(folder)
}

async function openFolder(folder) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { mode, uid } = await lstat(folder)
  const me = process.getuid?.()
  if (me !== undefined && (uid !== me || (mode & 0o022) !== 0)) {
    throw new Error(`The state folder ${folder} belongs to another user, or others may write to it.`)
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
