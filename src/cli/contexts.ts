import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { isRecord } from '../client/client-error.ts'
import { codeOf } from '../process/error-code.ts'
import type { Io } from './terminal/io.ts'

/** Servers by name, of which one is the current one, in a file of its user's own. It holds no token. */

export interface Contexts {
  readonly current: string | null
  readonly contexts: Readonly<Record<string, { readonly url: string }>>
}
export const CONTEXT_NAME_HELP = 'A name has letters, digits, dots, colons and dashes, at most 100.'
export const isContextName = (text: unknown): boolean => typeof text === 'string' && /^[\w.:-]{1,100}$/.test(text)

/** By the XDG Base Directory Specification, which ignores relative paths. */
export const configFolder = ({ XDG_CONFIG_HOME: chosen, HOME: home }: Io['env']): string =>
  join(chosen && isAbsolute(chosen) ? chosen : join(home || homedir(), '.config'), 'phaseline')

const pathOf = (env: Io['env']): string => join(configFolder(env), 'contexts.json')

/** A file that is not ours counts as none. */
export function readContexts(env: Io['env']): Contexts {
  const none: Contexts = { current: null, contexts: {} }
  try {
    const value: unknown = JSON.parse(readFileSync(pathOf(env), 'utf8'))
    return isContexts(value) ? value : none
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return none
    throw error
  }
}

/** Judged by hand: each command reads the file, and a library for schemas takes longer to load than most commands. */
function isContexts(value: unknown): value is Contexts {
  if (!isRecord(value) || !isRecord(value.contexts)) return false
  const { current, contexts } = value
  return (
    (current === null || isContextName(current)) &&
    Object.entries(contexts).every(
      ([name, one]) => isContextName(name) && isRecord(one) && typeof one.url === 'string' && one.url.length <= 2_000,
    )
  )
}

/** The file always has the whole of it, whatever happens. */
export function writeContexts(env: Io['env'], value: Contexts): void {
  const path = pathOf(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}-${randomUUID()}`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(draft, path)
}

/** Has commands call this server, under this name. */
export function useContext(env: Io['env'], name: string, url: string): void {
  writeContexts(env, { current: name, contexts: { ...readContexts(env).contexts, [name]: { url } } })
}

/** The address of the current context. */
export function currentUrl(env: Io['env']): string | undefined {
  const { current, contexts: all } = readContexts(env)
  return current === null ? undefined : all[current]?.url
}
