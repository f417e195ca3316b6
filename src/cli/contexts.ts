import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { codeOf } from '../process/error-code.ts'
import type { Io } from './terminal/io.ts'

/** Servers by name, of which one is the current one, in a file of its user's own. It holds no token. */

const contextName = z.string().regex(/^[\w.:-]{1,100}$/)
const contexts = z.object({
  current: contextName.nullable(),
  contexts: z.record(contextName, z.object({ url: z.string().max(2_000) })),
})
export type Contexts = z.infer<typeof contexts>
export const CONTEXT_NAME_HELP = 'A name has letters, digits, dots, colons and dashes, at most 100.'
export const isContextName = (text: string): boolean => contextName.safeParse(text).success

/** By the XDG Base Directory Specification, which ignores relative paths. */
export const configFolder = ({ XDG_CONFIG_HOME: chosen, HOME: home }: Io['env']): string =>
  join(chosen && isAbsolute(chosen) ? chosen : join(home || homedir(), '.config'), 'phaseline')

const pathOf = (env: Io['env']): string => join(configFolder(env), 'contexts.json')

/** A file that is not ours counts as none. */
export function readContexts(env: Io['env']): Contexts {
  const none: Contexts = { current: null, contexts: {} }
  try {
    const { data } = contexts.safeParse(JSON.parse(readFileSync(pathOf(env), 'utf8')))
    return data ?? none
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return none
    throw error
  }
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
