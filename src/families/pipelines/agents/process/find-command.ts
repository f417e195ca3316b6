import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { StartProblem } from '../runtime/runtime.ts'

/**
 * The absolute path of a command, so that it never is a shell builtin: with a slash it is relative to the working folder,
 * without one it is searched in the PATH.
 * @throws StartProblem
 */
export async function findCommand(name: string, path: string, workingFolder: string): Promise<string> {
  if (name === '') throw new StartProblem('The command is empty.')
  const candidates = name.includes('/')
    ? [resolve(workingFolder, name)]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, name))
  for (const candidate of candidates) {
    if (await isExecutable(candidate)) return candidate
  }
  const where = name.includes('/') ? 'there is no such executable file' : 'it is in no folder of the PATH'
  throw new StartProblem(`The command ${JSON.stringify(name.slice(0, 200))} cannot be run: ${where}.`)
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
