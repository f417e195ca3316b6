import { closeSync, constants, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { isWithin } from './system-folders.ts'

/** As many as Linux follows. */
const MAX_LINKS = 40
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY

/**
 * True if a sandbox that shows these folders has an executable file at this path. It follows links as the sandbox does, and never looks
 * outside of the folders: the answer would tell what is there.
 */
export function isExecutableWithin(folders: readonly string[], path: string): boolean {
  let found: boolean | string = path
  for (let links = 0; typeof found === 'string' && links <= MAX_LINKS; links += 1) found = follow(folders, found)
  return found === true
}

/** The path to which the first link leads, or if there is none, whether it is an executable file. */
function follow(folders: readonly string[], path: string): boolean | string {
  const [folder] = folders.filter((one) => isWithin(one, path)).toSorted((a, b) => b.length - a.length)
  if (folder === undefined) return false
  const parts = relative(folder, path).split(sep)
  const opened: number[] = []
  const open = (file: string, flags: number): string => {
    const fd = openSync(file, flags)
    opened.push(fd)
    return `/proc/self/fd/${fd}`
  }
  try {
    const real = realpathSync(folder)
    // Such as /bin, which is a link into /usr.
    if (folders.some((one) => one !== folder && isWithin(one, real))) return join(real, ...parts)
    // Through open folders: a worker of the same workspace may put a link in the place of one meanwhile.
    let at = open(folder, FOLDER)
    for (const [i, part] of parts.entries()) {
      const entry = join(at, part)
      const stat = lstatSync(entry)
      if (stat.isSymbolicLink())
        return resolve(folder, ...parts.slice(0, i), readlinkSync(entry), ...parts.slice(i + 1))
      if (i === parts.length - 1) return stat.isFile() && (stat.mode & 0o111) !== 0
      at = open(entry, FOLDER | constants.O_NOFOLLOW)
    }
  } catch {
    // It is missing, or cannot be read.
  } finally {
    for (const fd of opened) closeSync(fd)
  }
  return false
}
