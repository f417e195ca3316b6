import { stat } from 'node:fs/promises'

/** Other users of this machine could put files into the folder, such as a token or a key that they know. */
export class UnsafeFolder extends Error {
  override name = 'UnsafeFolder'
}

const ROOT = 0
const WRITABLE_FOR_OTHERS = 0o002

/**
 * Refuses a folder that another user has made, as anybody can where many may write, or that anybody may write in. That of a group may be meant.
 * @throws UnsafeFolder
 */
export async function requireOwnFolder(folder: string): Promise<void> {
  const own = process.getuid?.()
  const { uid, mode } = await stat(folder)
  const remedy = 'or take another folder'
  if (own !== undefined && ![own, ROOT].includes(uid))
    throw new UnsafeFolder(
      `The folder ${folder} belongs to the user ${uid}, and this process runs as ${own}: change one of the two (chown, or who runs it), ${remedy}.`,
    )
  if ((mode & WRITABLE_FOR_OTHERS) !== 0)
    throw new UnsafeFolder(`Every user may write in the folder ${folder}: change that with chmod o-w, ${remedy}.`)
}
