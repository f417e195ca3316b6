import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { identityOf } from './process-info.ts'

/** Another server has the data folder. */
export class FolderInUse extends Error {
  readonly pid: number
  constructor(folder: string, pid: number) {
    super(
      `The data folder ${folder} is in use by the server with pid ${pid}: stop that one, or set PHASELINE_DATA to another folder.`,
    )
    this.name = 'FolderInUse'
    this.pid = pid
  }
}

const PREFIX = 'server.lock.'
const holderSchema = z.object({ pid: z.number(), identity: z.string().nullable() })
type Holder = z.infer<typeof holderSchema>

/**
 * One server a data folder. Locks are numbered files and the highest counts, so that of several servers that find the
 * lock of a killed one exactly one gets the next: the highest file is emptied, never removed, and a number that is
 * given out twice (after its file was tidied away) is noticed by looking again.
 */
export async function lockFolder(folder: string): Promise<AsyncDisposable> {
  const own: Holder = { pid: process.pid, identity: await identityOf(process.pid) }
  const draft = join(folder, `.lock-${randomUUID()}`)
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 })
  try {
    for (;;) {
      const newest = Math.max(0, ...(await numbers(folder)))
      const holder = await readHolder(lockFile(folder, newest))
      if (holder && (await isAlive(holder))) throw new FolderInUse(folder, holder.pid)
      const file = lockFile(folder, newest + 1)
      // A link appears with its whole content, or not at all.
      if (!(await linked(draft, file))) continue
      const known = await numbers(folder)
      if (Math.max(...known) > newest + 1) {
        await rm(file, { force: true })
        continue
      }
      await Promise.all(known.filter((n) => n <= newest).map((n) => rm(lockFile(folder, n), { force: true })))
      // It may be gone with its folder.
      return { [Symbol.asyncDispose]: () => truncate(file).catch(() => {}) }
    }
  } finally {
    await rm(draft, { force: true })
  }
}

const lockFile = (folder: string, number: number): string => join(folder, `${PREFIX}${number}`)

async function numbers(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder)
  return names.filter((name) => name.startsWith(PREFIX)).map((name) => Number(name.slice(PREFIX.length)) || 0)
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Null when nobody holds it: it is not there, or was emptied. */
async function readHolder(file: string): Promise<Holder | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text === '' ? null : holderSchema.parse(JSON.parse(text))
}

const isAlive = async ({ pid, identity }: Holder): Promise<boolean> =>
  identity !== null && (await identityOf(pid)) === identity
