import { ARTIFACT_NAME_RULE, isArtifactName } from '../../core/artifact.ts'
import { hasHidden } from '../../core/hidden-text.ts'
import { textProblem } from '../../core/portable.ts'
import { isName, NAME_RULE, type Problems } from '../../core/problems.ts'

/** Formats of the names and texts of projects, secrets, events and workloads. */

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
const VARIABLE_RULE =
  'must start with a letter or _, continue with letters, digits or _, and have at most 128 characters'
/** Variables that Phaseline itself sets. */
const RESERVED = 'PHASELINE_'

/** Names of environment variables and secrets. */
export function checkVariable(name: string, path: string, problems: Problems): void {
  if (!VARIABLE.test(name)) problems.add(path, VARIABLE_RULE)
  else if (name.startsWith(RESERVED)) problems.add(path, `must not start with ${RESERVED}`)
}

/** Names of projects and workloads. */
export function checkName(name: string, path: string, problems: Problems): void {
  if (!isName(name)) problems.add(path, NAME_RULE)
}

const RUNTIME = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/
export function checkRuntime(name: string, path: string, problems: Problems): void {
  if (!RUNTIME.test(name)) problems.add(path, 'must be a plain word of letters, digits, . _ / or -')
}

/** Sources and types of events, and names of places, which fit into one line of a list. */
export function checkWord(text: string, path: string, problems: Problems): void {
  const fits = text !== '' && text === text.trim()
  if (!fits || hasHidden(text) || !text.isWellFormed())
    problems.add(
      path,
      'must be one line that is not empty, with blanks only between others, and without characters that cannot be seen',
    )
}

/** Text that Postgres can store and a process can receive. */
export function checkText(text: string, path: string, problems: Problems): void {
  const problem = textProblem(text)
  if (problem) problems.add(path, problem)
}

/** Names of artifacts, which are names of downloads, too. */
export function checkArtifactName(name: string, path: string, problems: Problems): void {
  if (!isArtifactName(name)) problems.add(path, ARTIFACT_NAME_RULE)
}

const encoder = new TextEncoder()
export const bytesOf = (text: string): number => encoder.encode(text).byteLength

/** A relative path without `.`, `..` or empty parts, so that it is always below its folder. */
export function checkFilePath(file: string, path: string, problems: Problems): void {
  const parts = file.split('/')
  const isBelow = parts.every((part) => part !== '' && part !== '.' && part !== '..' && bytesOf(part) <= 255)
  if (!isBelow || /\\/.test(file) || hasHidden(file) || !file.isWellFormed()) {
    problems.add(path, 'must be a relative path with / between its parts of at most 255 bytes, without . or ..')
  }
}
