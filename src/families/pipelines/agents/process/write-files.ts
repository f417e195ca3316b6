import { constants } from 'node:fs'
import { lstat, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
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

const quoted = (path: string): string => JSON.stringify(path.slice(0, 200))

function partsOf(path: string): readonly string[] {
  const parts = path.split('/')
  const wrong = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))
  if (wrong)
    throw new StartProblem(`The file ${quoted(path)} must be named relative to the working folder, without "..".`)
  return parts
}

async function writeBelow(folder: string, parts: readonly string[], content: string): Promise<void> {
  let at = folder
  for (const part of parts.slice(0, -1)) {
    at = join(at, part)
    await mkdir(at, { mode: 0o700 }).catch(() => {})
    if (!(await lstat(at)).isDirectory())
      throw new StartProblem(`${quoted(parts.join('/'))} would lead out of the folder.`)
  }
  const mode = modeOf(content)
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants
  await using file = await open(
    join(at, parts.at(-1) ?? ''),
    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK,
    mode,
  )
  await file.chmod(mode)
  await file.writeFile(content)
}
