import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * Gadgets remember here what they did, so that it can be undone after a crash: PHASELINE_STATE, or a folder of the user's
 * own. It is never an argument, since everyone who may create tasks chooses arguments.
 */
const STATE = process.env.PHASELINE_STATE || join(homedir(), '.local/state/phaseline')

export const statePath = (...names) => join(STATE, ...names)

/** A file name for the work that these texts identify. */
export const keyOf = (...texts) => createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 32)

export async function readJson(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

/** All or nothing, and on the disk when it returns: what is noted here is undone even after a power cut. */
export async function writeJson(path, value) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}.tmp`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(value))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  const folder = await open(dirname(path))
  await folder.sync().finally(() => folder.close())
}

export const remove = (path) => rm(path, { recursive: true, force: true })
