import { constants } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { onLinux } from '../../../../process/identity.ts'
import { partsOf, quoted } from '../runtime/file-path.ts'
import { StartProblem } from '../runtime/runtime.ts'

/** Private; scripts are executable. */
const modeOf = (content: string): number => (content.startsWith('#!') ? 0o700 : 0o600)

/**
 * Writes files below a folder. Existing entries may be a trap: links are not followed.
 * @throws StartProblem when a path leads out of the folder, or cannot be written
 */
export async function writeFiles(
  folder: string,
  files: readonly { readonly path: string; readonly content: string }[],
): Promise<void> {
  for (const { path, content } of files) {
    try {
      await writeBelow(folder, partsOf(path), content)
    } catch (error) {
      if (error instanceof StartProblem) throw error
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
      throw new StartProblem(`The file ${quoted(path)} cannot be written: ${code}.`)
    }
  }
}

async function writeBelow(folder: string, parts: readonly string[], content: string): Promise<void> {
  await using opened = new AsyncDisposableStack()
  let at = await openFolder(folder)
  opened.use(at.handle)
  for (const part of parts.slice(0, -1)) {
    const path = join(at.path, part)
    await mkdir(path, { mode: 0o700 }).catch(() => {})
    at = await openFolder(path).catch(() => {
      throw new StartProblem(`${quoted(parts.join('/'))} would lead out of the folder.`)
    })
    opened.use(at.handle)
  }
  const mode = modeOf(content)
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants
  const path = join(at.path, parts.at(-1) ?? '')
  await using file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, mode)
  await file.chmod(mode)
  await file.writeFile(content)
}

/** A path through the open folder: a worker of the same workspace may put a link in its place meanwhile. */
async function openFolder(path: string): Promise<{ readonly handle: FileHandle; readonly path: string }> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  return { handle, path: onLinux ? `/proc/self/fd/${handle.fd}` : path }
}
