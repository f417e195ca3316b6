import type { FolderLock } from '../../process/folder-lock.ts'

/** One process at a time has a state folder. */
export const stateLock = (folder: string): FolderLock => ({
  folder,
  prefix: 'lock.',
  inUse: (pid) =>
    `The state folder ${folder} is in use by the process with pid ${pid}: stop that one, or take another folder.`,
})
