import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A folder in which processes with its `env` note each module that they load. */
export async function recording() {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-modules-'))
  const hook = pathToFileURL(join(import.meta.dirname, 'record-modules.ts')).href
  return {
    env: { NODE_OPTIONS: `--import=${hook}`, RECORDED_MODULES: folder },
    async modules(): Promise<readonly string[]> {
      const files = (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'))
      return (await Promise.all(files)).flatMap((text) => text.trim().split('\n'))
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

export const packagesOf = (modules: readonly string[]): ReadonlySet<string> =>
  new Set(modules.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []))
