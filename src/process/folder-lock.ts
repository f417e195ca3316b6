import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatProcessId, identityOf, isAlive, type ProcessId, parseProcessId } from './identity.ts'

/** Another process has locked the folder. */
export class FolderInUse extends Error {
  readonly holder: ProcessId
  constructor(message: string, holder: ProcessId) {
    super(message)
    this.name = 'FolderInUse'
    this.holder = holder
  }
}

export interface FolderLock {
  readonly folder: string
  /** Lock files are named by it and a number. */
  readonly prefix: string
  /** The message of FolderInUse: names the folder and the remedy. */
  inUse(pid: number): string
}

/**
 * Locks a folder for this process. Lock files are numbered and the highest one counts, so that of several processes that
 * find the lock of a killed one, exactly one creates the next: the highest file is emptied, never removed, and a number
 * that is used twice (after its file was tidied away) is noticed by listing again.
 * @throws FolderInUse
 */
export async function lockFolder({ folder, prefix, inUse }: FolderLock): Promise<AsyncDisposable> {
  const identity = await identityOf(process.pid)
  if (identity === null) throw new Error(`${folder} cannot be locked: neither /proc nor ps names this process.`)
  const draft = join(folder, `.lock-${randomUUID()}`)
  const fileOf = (number: number): string => join(folder, `${prefix}${number}`)
  await writeFile(draft, formatProcessId({ pid: process.pid, identity }), { mode: 0o600 })
  try {
    for (;;) {
      const newest = Math.max(0, ...(await numbersOf(folder, prefix)))
      const holder = parseHolder(await readFile(fileOf(newest), 'utf8').catch(() => ''))
      if (holder && (await isAlive(holder))) throw new FolderInUse(inUse(holder.pid), holder)
      const file = fileOf(newest + 1)
      if (!(await linkOnce(draft, file))) continue
      const numbers = await numbersOf(folder, prefix)
      if (Math.max(...numbers) > newest + 1) {
        await rm(file, { force: true })
        continue
      }
      await Promise.all(numbers.filter((n) => n <= newest).map((n) => rm(fileOf(n), { force: true })))
      // The file may be gone with its folder.
      return { [Symbol.asyncDispose]: () => truncate(file).catch(() => {}) }
    }
  } finally {
    await rm(draft, { force: true })
  }
}

/** Creates a hard link, which appears with its whole content or not at all. False: the name is taken. */
export async function linkOnce(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function numbersOf(folder: string, prefix: string): Promise<readonly number[]> {
  const names = await readdir(folder)
  return names.filter((name) => name.startsWith(prefix)).map((name) => Number(name.slice(prefix.length)) || 0)
}

/** Null: the file is missing or empty, so that nobody holds the lock. Servers of 0.1.0 wrote JSON. */
function parseHolder(text: string): ProcessId | null {
  if (!text.startsWith('{')) return parseProcessId(text)
  const { pid, identity } = JSON.parse(text) as { pid: number; identity: string | null }
  return identity === null ? null : { pid, identity }
}
