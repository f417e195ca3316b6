import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { StartProblem } from '../runtime/runtime.ts'

export interface Searched {
  readonly path: string
  readonly workingFolder: string
  /** Absent: it is judged by what this machine has. */
  readonly isExecutable?: ((file: string) => boolean) | undefined
}

/**
 * The absolute path of a command, so that it never is a shell builtin: with a slash it is relative to the working folder,
 * without one it is searched in the PATH.
 * @throws StartProblem
 */
export function findCommand(name: string, { path, workingFolder, isExecutable = isExecutableHere }: Searched): string {
  if (name === '') throw new StartProblem('The command is empty.')
  const candidates = name.includes('/')
    ? [resolve(workingFolder, name)]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, name))
  const found = candidates.find(isExecutable)
  if (found !== undefined) return found
  const where = name.includes('/') ? 'there is no such executable file' : 'it is in no folder of the PATH'
  throw new StartProblem(`The command ${JSON.stringify(name.slice(0, 200))} cannot be run: ${where}.`)
}

function isExecutableHere(file: string): boolean {
  try {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
