import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'
import { ownedFolder, type Place } from './place.ts'
import { USER } from './postmaster.ts'
import { EmbeddedPostgresProblem } from './problem.ts'

const run = promisify(execFile)

/**
 * Creates the cluster if there is none; throws EmbeddedPostgresProblem when there is one of another major version.
 * It is created under another name and then renamed, so that an incomplete one is never used.
 */
export async function initialise(
  { data, owner }: Place,
  { initdb, major }: Binaries,
  signal: AbortSignal,
): Promise<void> {
  const version = await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => null)
  if (version !== null) {
    if (Number(version) === major) return
    throw new EmbeddedPostgresProblem(
      `The data in ${data} is of Postgres ${version.trim()} and the embedded one is ${major}: dump it with the old version and restore it.`,
    )
  }
  const part = `${data}.new`
  await rm(part, { recursive: true, force: true })
  await ownedFolder(part, owner)
  // The same order of texts on every machine, whatever locales it has.
  const locale = ['-E', 'UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  // Every user who reaches the socket may connect: its folder is open to its owner alone.
  const args = ['-D', part, '-U', USER, '--auth=trust', '--no-instructions', ...locale]
  const running = run(initdb, args, { ...owner, cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, signal })
  const { child } = running
  await running.catch(async (error: unknown) => {
    // An abort does not wait for its end.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await rm(part, { recursive: true, force: true })
    throw error
  })
  await rename(part, data)
}
