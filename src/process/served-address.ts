import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatProcessId, identityOf, isAlive, parseProcessId } from './identity.ts'
import { requireOwnFolder } from './own-folder.ts'

/** The address of the server of a data folder, in a file beside its token. */

const fileIn = (folder: string): string => join(folder, 'address')

/**
 * Names this process as the server of a folder that it has locked. Dispose it before the port closes: from then on another
 * program may listen there, which must not get the token. The file of a process that was killed counts as none.
 */
export async function writeServedAddress(folder: string, origin: string): Promise<AsyncDisposable> {
  const identity = await identityOf(process.pid)
  if (identity === null) throw new Error(`${folder} cannot name its server: neither /proc nor ps names this process.`)
  const draft = join(folder, `.address-${randomUUID()}`)
  await writeFile(draft, `${origin}\n${formatProcessId({ pid: process.pid, identity })}`, { mode: 0o600, flag: 'wx' })
  await rename(draft, fileIn(folder))
  return { [Symbol.asyncDispose]: () => rm(fileIn(folder), { force: true }) }
}

/**
 * The origin of the server that has the folder now. Null: there is none, or its process has ended, or another user could
 * have written the file.
 */
export async function readServedAddress(folder: string): Promise<string | null> {
  const text = await readOwn(folder).catch(() => '')
  const [origin = '', line = ''] = text.split('\n')
  const server = parseProcessId(line)
  return server && URL.canParse(origin) && (await isAlive(server)) ? origin : null
}

async function readOwn(folder: string): Promise<string> {
  await requireOwnFolder(folder)
  return await readFile(fileIn(folder), 'utf8')
}
