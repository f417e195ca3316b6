import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { startedAt } from './process-info.ts'

/** Somebody else's server has the data folder. */
export class FolderInUse extends Error {
  constructor(folder: string, pid: number) {
    super(`The data folder ${folder} is in use by the server with pid ${pid}: stop that one, or set PHASELINE_DATA to another folder.`)
    this.name = 'FolderInUse'
  }
}

interface Holder {
  readonly pid: number
  readonly startedAt: number | null
}

/** One server a data folder. The file of a server that was killed is recognised by pid and start time, and taken over. */
export async function lockFolder(folder: string, file: string): Promise<AsyncDisposable> {
  const own: Holder = { pid: process.pid, startedAt: await startedAt(process.pid) }
  for (;;) {
    const handle = await create(file)
    if (handle) {
      await handle.writeFile(JSON.stringify(own))
      await handle.close()
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) }
    }
    const holder = await readHolder(file)
    if (holder && (await isAlive(holder))) throw new FolderInUse(folder, holder.pid)
    await rm(file, { force: true })
  }
}

async function create(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, 'wx', 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return null
    throw error
  }
}

async function readHolder(file: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder
  } catch {
    return null
  }
}

async function isAlive({ pid, startedAt: since }: Holder): Promise<boolean> {
  return since !== null && (await startedAt(pid)) === since
}
