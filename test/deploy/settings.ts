import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect } from 'vitest'
import { type Config, SECRET_SETTINGS } from '../../src/config.ts'
import { timeoutsOf } from '../../src/families/define-family.ts'
import { families } from '../../src/families/index.ts'
import { loadSettings } from '../../src/settings.ts'
import { SECRET_KEY } from '../testkit/server.ts'

export const ROOT = join(import.meta.dirname, '../..')
export const readText = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
export const VERSION = (JSON.parse(readText('package.json')) as { version: string }).version

export type Settings = Readonly<Record<string, string>>
/** Settings of Node, which are not ours. */
const OTHERS = ['NODE_ENV', 'NODE_COMPILE_CACHE']
/** Every setting in the tables of the pages on operations and limits. */
const KNOWN = new Set(
  ['docs/operations.md', 'docs/limits.md'].flatMap((page) =>
    [...readText(page).matchAll(/^\| (`[A-Z_`, ]+`)/gm)].flatMap(([, names = '']) => names.match(/[A-Z_]+/g) ?? []),
  ),
)
const SECRETS: Settings = {
  'database-url': 'postgresql://phaseline:p@db/phaseline',
  'redis-url': 'redis://redis:6379',
  'secret-key': SECRET_KEY,
  token: 'administrator-of-the-file',
  'metrics-token': 'reader-of-the-metrics',
}

/** Settings that `Containerfile` has for all processes. */
export const IMAGE_ENV: Settings = Object.fromEntries(
  [...readText('Containerfile').matchAll(/^(?:ENV| ) ([A-Z_]+)=(\S+)/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
)

/** The configuration that a process with these settings has; the secrets are in the files of these names. */
export async function configOf(settings: Settings, files: readonly string[]): Promise<Config> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-settings-'))
  try {
    const moved = Object.entries(settings).map(([name, value]) => {
      if (!SECRET_SETTINGS.some((secret) => name === `${secret}_FILE`)) return [name, value] as const
      expect(files, `${name} names a file that it is given`).toContain(value)
      return [name, join(folder, basename(value))] as const
    })
    const known = ([name]: readonly [string, string]) => KNOWN.has(name.replace(/_FILE$/, '')) || OTHERS.includes(name)
    expect(moved.filter((one) => !known(one))).toEqual([])
    for (const [name, value] of Object.entries(SECRETS)) await writeFile(join(folder, name), value)
    const loaded = await loadSettings(Object.fromEntries(moved), timeoutsOf(families))
    if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
    return loaded.config
  } finally {
    await rm(folder, { recursive: true })
  }
}
