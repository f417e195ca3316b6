import { StartProblem, type Workload, type WorkloadFile } from './runtime.ts'

/** Ids are names of files, folders and containers. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
export const isFileName = (id: string): boolean => ID.test(id)

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

/** The folders above these paths, the outer ones first. @throws StartProblem */
export function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const path of paths) {
    const parts = partsOf(path)
    for (let length = 1; length < parts.length; length += 1) folders.add(parts.slice(0, length).join('/'))
  }
  return folders
}

/**
 * The name of the secret that is the content of a file; null: it has a text.
 * @throws StartProblem when the workload has no such secret
 */
export function secretOf({ path, secret }: WorkloadFile, { secrets }: Pick<Workload, 'secrets'>): string | null {
  if (secret === undefined) return null
  if (!Object.hasOwn(secrets, secret))
    throw new StartProblem(`The file ${quoted(path)} has no content: the project has no secret ${secret}.`)
  return secret
}

/** Such a file is executable. */
export const isScript = (content: string): boolean => content.startsWith('#!')
/** Private to the user of the workload. */
export const modeOf = (content: string): number => (isScript(content) ? 0o700 : 0o600)
