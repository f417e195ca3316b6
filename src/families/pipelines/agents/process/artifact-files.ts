import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readlink, rmdir, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../../../process/error-code.ts'
import { compressed, type Entry, entriesIn } from '../artifacts/archive.ts'
import { ArtifactProblem } from '../artifacts/artifact-problem.ts'
import { type Left, StartProblem, type Taken } from '../runtime/runtime.ts'
import { partsOf, quoted } from '../runtime/workload-files.ts'
import { makeBelow, type OpenFolder, openBelow, opened } from './write-files.ts'

/** Artifacts in a working folder of this machine. Others may write there: links are kept as links, and never followed. */

const PIECE = 64 * 1_024
const MISSING = ['ENOENT', 'ENOTDIR']
/** The first is Linux's, the other that of other systems. */
const IS_FOLDER = ['EISDIR', 'EPERM']
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * A file, or a folder as a compressed archive. Null: there is no such path.
 * @throws ArtifactProblem, also while its body is read
 */
export async function readLeft(folder: string, path: string): Promise<Left | null> {
  const parts = partsOf(path)
  try {
    const { handle } = await openLeft(folder, parts)
    await using file = handle
    const stat = await file.stat()
    if (stat.isDirectory()) return { isFolder: true, body: folderOf(folder, parts) }
    if (stat.isFile()) return { isFolder: false, body: fileOf(folder, parts) }
  } catch (error) {
    if (MISSING.includes(codeOf(error))) return null
    throw unreadable(path, error)
  }
  throw new ArtifactProblem('ARTIFACT_UNSAFE', `${quoted(path)} is no file and no folder.`)
}

async function openLeft(folder: string, parts: readonly string[]) {
  await using above = await openBelow(folder, parts.slice(0, -1))
  const at = join(above.path, parts.at(-1) ?? '')
  return { handle: await openAny(at), at }
}

// Both open what they read once somebody reads it: an upload may fail before that.
async function* folderOf(folder: string, parts: readonly string[]): AsyncGenerator<Uint8Array> {
  const { handle, at } = await openLeft(folder, parts).catch((error: unknown) => {
    throw unreadable(parts.join('/'), error)
  })
  yield* compressed(entriesBelow(handle, at, ''))
}
async function* fileOf(folder: string, parts: readonly string[]): AsyncGenerator<Uint8Array> {
  const { handle } = await openLeft(folder, parts).catch((error: unknown) => {
    throw unreadable(parts.join('/'), error)
  })
  await using file = handle
  yield* bytesOf(file, (await file.stat()).size)
}

/** Without a wait for whoever would write into a pipe. */
const openAny = (path: string): Promise<FileHandle> => open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)

function unreadable(path: string, error: unknown): ArtifactProblem {
  if (error instanceof ArtifactProblem) return error
  if (codeOf(error) === 'ELOOP') return new ArtifactProblem('ARTIFACT_UNSAFE', `${quoted(path)} is a symbolic link.`)
  return new ArtifactProblem('ARTIFACT_UNREADABLE', `${quoted(path)} cannot be read: ${codeOf(error)}.`)
}

async function* entriesBelow(handle: FileHandle, path: string, prefix: string): AsyncGenerator<Entry> {
  await using folder = opened(handle, path)
  yield* entriesWithin(folder, prefix)
}

async function* entriesWithin(folder: OpenFolder, prefix: string): AsyncGenerator<Entry> {
  for (const name of (await readdir(folder.path)).sort()) yield* entriesAt(join(folder.path, name), `${prefix}${name}`)
}

async function* entriesAt(at: string, path: string): AsyncGenerator<Entry> {
  const handle = await openAny(at).catch((error: unknown) => {
    if (codeOf(error) === 'ELOOP') return null
    throw unreadable(path, error)
  })
  if (!handle) return yield { type: 'link', path, target: await readlink(at) }
  // Open while the entry is read, whether or not anybody reads its body.
  await using file = handle
  const stat = await file.stat()
  if (stat.isDirectory()) {
    yield { type: 'folder', path }
    return yield* entriesWithin(opened(file, at), `${path}/`)
  }
  if (!stat.isFile())
    throw new ArtifactProblem('ARTIFACT_UNSAFE', `${quoted(path)} is no file, folder or symbolic link.`)
  const { size, mode } = stat
  yield { type: 'file', path, size, isExecutable: (mode & 0o111) !== 0, body: bytesOf(file, size) }
}

/** As many bytes as it had: another job of the workspace may write it. */
async function* bytesOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let read = 0; read < size; ) {
    const length = Math.min(PIECE, size - read)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length)
    if (bytesRead === 0) throw new ArtifactProblem('ARTIFACT_UNREADABLE', 'A file became shorter while it was read.')
    read += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** Puts an artifact into a working folder, in place of what is there. @throws ArtifactProblem, StartProblem, or the error of its body */
export async function writeTaken(folder: string, { path, isFolder, body }: Taken): Promise<void> {
  const parts = partsOf(path)
  if (!isFolder) return await putFile(folder, parts, body, 0o600)
  await putFolder(folder, parts)
  const links: { readonly at: readonly string[]; readonly target: string }[] = []
  for await (const entry of entriesIn(body)) {
    const at = [...parts, ...entry.path.split('/')]
    if (entry.type === 'folder') await putFolder(folder, at)
    else if (entry.type === 'file') await putFile(folder, at, entry.body, entry.isExecutable ? 0o700 : 0o600)
    else links.push({ at, target: entry.target })
  }
  // Last, so that none of them leads a file elsewhere.
  for (const { at, target } of links)
    await within(folder, at, async (path) => {
      await clear(path)
      await symlink(target, path)
    })
}

async function putFile(
  folder: string,
  at: readonly string[],
  body: AsyncIterable<Uint8Array>,
  mode: number,
): Promise<void> {
  await using file = await within(folder, at, async (path) => {
    await clear(path)
    return await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  })
  await file.chmod(mode)
  await file.writeFile(body)
}

/** One that is there keeps what it has. */
const putFolder = (folder: string, at: readonly string[]): Promise<void> =>
  within(folder, at, async (path) => {
    await unlink(path).catch(() => {})
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  })

/** @throws ArtifactProblem */
async function within<T>(folder: string, at: readonly string[], put: (path: string) => Promise<T>): Promise<T> {
  try {
    await using above = await makeBelow(folder, at.slice(0, -1), at)
    return await put(join(above.path, at.at(-1) ?? ''))
  } catch (error) {
    if (error instanceof StartProblem) throw error
    throw new ArtifactProblem('ARTIFACT_REFUSED', `${quoted(at.join('/'))} cannot be written: ${codeOf(error)}.`)
  }
}

/** Removes what is at this path, through open folders: another job of the workspace may put a link in the place of one. */
async function clear(path: string): Promise<void> {
  const isFolder = await unlink(path).then(
    () => false,
    (error: unknown) => {
      if (IS_FOLDER.includes(codeOf(error))) return true
      if (codeOf(error) === 'ENOENT') return false
      throw error
    },
  )
  if (!isFolder) return
  {
    await using folder = await openBelow(path, [])
    for (const name of await readdir(folder.path)) await clear(join(folder.path, name))
  }
  await rmdir(path)
}
