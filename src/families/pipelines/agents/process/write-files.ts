import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { onLinux } from '../../../../process/identity.ts'
import { StartProblem, type Workload } from '../runtime/runtime.ts'
import { modeOf, partsOf, quoted, secretOf } from '../runtime/workload-files.ts'

/**
 * Writes files below a folder. Existing entries may be a trap: links are not followed. A file whose content is a secret is a link to the
 * secret's own file.
 * @throws StartProblem when a path leads out of the folder, or cannot be written
 */
export async function writeFiles(
  folder: string,
  workload: Pick<Workload, 'files' | 'secrets'>,
  secretsFolder: string,
): Promise<void> {
  for (const file of workload.files) {
    const { path, content } = file
    try {
      const secret = secretOf(file, workload)
      const parts = partsOf(path)
      if (secret === null) await writeBelow(folder, parts, content, modeOf(content))
      else await linkBelow(folder, parts, join(secretsFolder, secret))
    } catch (error) {
      if (error instanceof StartProblem) throw error
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
      throw new StartProblem(`The file ${quoted(path)} cannot be written: ${code}.`)
    }
  }
}

async function linkBelow(folder: string, parts: readonly string[], target: string): Promise<void> {
  await using above = await makeBelow(folder, parts.slice(0, -1), parts)
  const path = join(above.path, parts.at(-1) ?? '')
  await rm(path, { force: true })
  await symlink(target, path)
}

/** @throws StartProblem when the path leads out of the folder */
async function writeBelow(
  folder: string,
  parts: readonly string[],
  content: string | AsyncIterable<Uint8Array>,
  mode: number,
): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants
  await using above = await makeBelow(folder, parts.slice(0, -1), parts)
  const path = join(above.path, parts.at(-1) ?? '')
  await using file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, mode)
  await file.chmod(mode)
  await file.writeFile(content)
}

/**
 * Opens a folder below another one, and makes it where it is missing.
 * @throws StartProblem when it leads out of the folder
 */
export async function makeBelow(folder: string, parts: readonly string[], named = parts): Promise<OpenFolder> {
  return await openBelow(folder, parts, (path) => mkdir(path, { mode: 0o700 })).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && (error.code === 'ELOOP' || error.code === 'ENOTDIR'))
      throw new StartProblem(`${quoted(named.join('/'))} would lead out of the folder.`)
    throw error
  })
}

export interface OpenFolder extends AsyncDisposable {
  /** A path through the open folder: a worker of the same workspace may put a link in its place meanwhile. */
  readonly path: string
}

/** Opens a folder below another one, each step through the open folder above it. No link is followed. */
export async function openBelow(
  folder: string,
  parts: readonly string[],
  make: (path: string) => Promise<unknown> = async () => {},
): Promise<OpenFolder> {
  let at = await openFolder(folder)
  for (const part of parts) {
    await using above = at
    const path = join(above.path, part)
    await make(path).catch(() => {})
    at = await openFolder(path)
  }
  return at
}

async function openFolder(path: string): Promise<OpenFolder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  return opened(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path)
}

export const opened = (handle: FileHandle, path: string): OpenFolder => ({
  path: onLinux ? `/proc/self/fd/${handle.fd}` : path,
  [Symbol.asyncDispose]: () => handle.close(),
})
