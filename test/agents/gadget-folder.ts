import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of real gadgets, written for one test. */
export interface GadgetFolder extends AsyncDisposable {
  readonly path: string
  /** A shell script; `$dir` is the folder. The path of the gadget. */
  add(name: string, script: string): Promise<string>
  read(name: string): Promise<string>
}

export async function gadgetFolder(): Promise<GadgetFolder> {
  const path = await mkdtemp(join(tmpdir(), 'gadgets-'))
  return {
    path,
    async add(name, script) {
      const file = join(path, name)
      await writeFile(file, `#!/bin/sh\ndir='${path}'\n${script}\n`)
      await chmod(file, 0o755)
      return file
    },
    read: (name) => readFile(join(path, name), 'utf8').catch(() => ''),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** Not when it has ended and only waits to be reaped. */
export function isAlive(pid: number): boolean {
  const { status, stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return status === 0 && !stdout.trim().startsWith('Z')
}
