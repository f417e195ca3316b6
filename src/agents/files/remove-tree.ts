import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../process/error-code.ts'

/** Removes a folder with its content, read-only folders included. Links are removed, not followed. */
export async function removeTree(folder: string): Promise<void> {
  // A process may still write into it, and is ended soon.
  const options = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const
  try {
    await rm(folder, options)
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(codeOf(error))) throw error
    await openUp(folder)
    await rm(folder, options)
  }
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(folder, entry.name))
  }
}
