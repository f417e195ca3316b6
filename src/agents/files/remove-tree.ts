import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, open, opendir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../process/error-code.ts'
import { onLinux } from '../../process/identity.ts'

/** A folder into which somebody writes without end is given up then; its removal is tried again later. */
const GIVE_UP_MS = 60_000
/** An entry has gone, or has become another one, since its folder was read. */
const CHANGED = ['ENOENT', 'EISDIR', 'ENOTDIR', 'ELOOP', 'ENOTEMPTY', 'EEXIST']

/**
 * Removes a folder with its content: read-only folders, and those nested beyond the longest path, included. Its content is a stranger's, who may
 * change it meanwhile; so links are removed, never followed, and nothing outside of the folder is touched. Only its own place must be safe.
 */
export async function removeTree(folder: string): Promise<void> {
  if (!onLinux) return await removeByPaths(folder)
  await using root = await openFolder(folder)
  if (!root) return await removeOther(folder)
  for (const until = performance.now() + GIVE_UP_MS; ; ) {
    await flatten(root.path, until)
    try {
      return await rmdir(folder)
    } catch (error) {
      // Another removal was faster.
      if (codeOf(error) === 'ENOENT') return
      if (performance.now() > until || !CHANGED.includes(codeOf(error))) throw error
    }
  }
}

/** Removes something else than a folder, which may become one meanwhile. */
async function removeOther(path: string): Promise<void> {
  try {
    await rm(path, { force: true })
  } catch (error) {
    if (codeOf(error) !== 'ERR_FS_EISDIR') throw error
    await removeTree(path)
  }
}

/** Removes the files of a folder, and of the folders in it, whose own folders move up: no path is ever long, nothing is open for long. */
async function flatten(root: string, until: number): Promise<void> {
  for await (const { path, isFolder } of entriesOf(root)) {
    if (performance.now() > until) return
    await using inner = isFolder ? await openFolder(path) : null
    if (!inner) {
      await unlessChanged(unlink(path))
      continue
    }
    for await (const below of entriesOf(inner.path)) {
      if (performance.now() > until) return
      await unlessChanged(below.isFolder ? moveUp(below.path, root) : unlink(below.path))
    }
    await unlessChanged(rmdir(path))
  }
}

async function moveUp(path: string, root: string): Promise<void> {
  // Opening it makes it writable, which a folder that gets another parent has to be.
  await using _ = await openFolder(path)
  await rename(path, join(root, randomUUID()))
}

async function* entriesOf(folder: string) {
  for await (const entry of await opendir(folder)) {
    yield { path: join(folder, entry.name), isFolder: entry.isDirectory() }
  }
}

interface OpenFolder extends AsyncDisposable {
  /** Leads to this very folder, whatever stands at its name. */
  readonly path: string
}

/** A flag of Linux that Node does not name: it opens a folder whatever its mode permits. */
const O_PATH = 0o10000000
const USABLE = 0o700

/** Opens a folder, and permits its owner everything in it. Null: there is none. */
async function openFolder(at: string): Promise<OpenFolder | null> {
  const { O_DIRECTORY, O_NOFOLLOW } = constants
  const handle = await open(at, O_PATH | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
    if (CHANGED.includes(codeOf(error))) return null
    throw error
  })
  if (!handle) return null
  const path = `/proc/self/fd/${handle.fd}`
  const { mode } = await handle.stat()
  if ((mode & USABLE) !== USABLE) await chmod(path, USABLE)
  return { path, [Symbol.asyncDispose]: () => handle.close() }
}

async function unlessChanged(removal: Promise<void>): Promise<void> {
  await removal.catch((error: unknown) => {
    if (!CHANGED.includes(codeOf(error))) throw error
  })
}

/** For systems without isolation: whoever writes into the folder has the rights of this process anyway. */
async function removeByPaths(folder: string): Promise<void> {
  // A process may still write into it, and is ended soon.
  const options = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const
  try {
    await rm(folder, options)
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(codeOf(error))) throw error
    await openUp(folder)
    await rm(folder, options)
  }
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, USABLE)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(folder, entry.name))
  }
}
