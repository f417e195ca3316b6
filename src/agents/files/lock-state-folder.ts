import { lockFolder } from '../../process/folder-lock.ts'
import { requireOwnFolder } from '../../process/own-folder.ts'

/**
 * One process at a time has a state folder.
 * @throws FolderInUse, UnsafeFolder
 */
export async function lockStateFolder(folder: string): Promise<AsyncDisposable> {
  await requireOwnFolder(folder)
  return await lockFolder({
    folder,
    prefix: 'lock.',
    inUse: (pid) =>
      `The state folder ${folder} is in use by the process with pid ${pid}: stop that one, or take another folder.`,
  })
}
