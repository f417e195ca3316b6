import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatProcessId, isAlive, type ProcessId, parseProcessId, processAt } from './identity.ts'

/** Another process has the state folder. */
export class StateInUse extends Error {
  readonly holder: ProcessId
  constructor(folder: string, holder: ProcessId) {
    const { pid } = holder
    super(`The state folder ${folder} is in use by the process with pid ${pid}: stop that one, or take another folder.`)
    this.name = 'StateInUse'
    this.holder = holder
  }
}

const PREFIX = 'lock.'

/**
 * One process a state folder. Locks are numbered files and the highest counts, so that of several that find the
 * lock of a killed one exactly one gets the next: the highest file is emptied, never removed, and a number that is given
 * out twice (after its file was tidied away) is noticed by looking again.
 * @throws StateInUse
 */
export async function lockState(folder: string): Promise<AsyncDisposable> {
  const own = await processAt(process.pid)
  if (!own) throw new Error('This process cannot be told from others: neither /proc nor ps can be read.')
  const draft = join(folder, `.lock-${randomUUID()}`)
  await writeFile(draft, formatProcessId(own), { mode: 0o600 })
  try {
    for (;;) {
      const newest = Math.max(0, ...(await numbers(folder)))
      const holder = parseProcessId(await readFile(lockFile(folder, newest), 'utf8').catch(() => ''))
      if (holder && (await isAlive(holder))) throw new StateInUse(folder, holder)
      const file = lockFile(folder, newest + 1)
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

/** A link appears with its whole content, or not at all. False: there is one already. */
export async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
