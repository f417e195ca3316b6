import { StartProblem } from './runtime.ts'

export const quoted = (path: string): string => JSON.stringify(path.slice(0, 200))

/**
 * The parts of a file's path within a working folder.
 * @throws StartProblem when it leads out of the folder
 */
export function partsOf(path: string): readonly string[] {
  const parts = path.split('/')
  const wrong = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))
  if (wrong)
    throw new StartProblem(`The file ${quoted(path)} must be named relative to the working folder, without "..".`)
  return parts
}
