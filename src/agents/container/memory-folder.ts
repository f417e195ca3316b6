import { lstat, mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'

/** A folder of this user's agents that is in memory, so that secrets never reach a disk. Null: the system has no such folder. */
export async function memoryFolder(): Promise<string | null> {
  const own = join(MEMORY, `phaseline-${userInfo().uid}`)
  return (await isPrivate(own)) ? own : null
}

/** Makes the folder, and sees that it is this user's: others may write beside it. */
async function isPrivate(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 }).catch(() => {})
    const found = await lstat(folder)
    return found.isDirectory() && found.uid === userInfo().uid && (found.mode & 0o077) === 0
  } catch {
    return false
  }
}
