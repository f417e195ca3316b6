import { chmod, chown, lstat, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The user that Postgres runs as, as options of `spawn`; empty: our own. */
export interface Owner {
  readonly uid?: number
  readonly gid?: number
}

/** The folders and the log file of one embedded Postgres. */
export interface Place {
  readonly owner: Owner
  readonly data: string
  readonly sockets: string
  readonly log: string
}

/** Postgres refuses to run as root: then it runs as this user, which needs no entry in /etc/passwd. */
const NOBODY = 65_534
const SYSTEM_FOLDER = '/var/lib/phaseline'
/** A socket's path has at most 107 bytes on Linux and 103 on macOS, its name `/.s.PGSQL.5432` included. */
const MAX_SOCKET_FOLDER = 85

/** Creates the folders, each for its owner alone, except `data`, which initdb creates. */
export async function choosePlace(folder: string): Promise<Place> {
  const owner: Owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const home = owner.uid === undefined ? folder : await reachableHome(folder)
  return {
    owner,
    data: join(home, 'postgres'),
    sockets: await socketFolder(home, owner),
    log: join(home, 'postgres.log'),
  }
}

/** A folder for its owner alone, who need not be us. */
export async function ownedFolder(folder: string, { uid, gid }: Owner): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
  return folder
}

/** The data folder, unless others may not pass through it, as in root's home: then one elsewhere, named in a note. */
async function reachableHome(folder: string): Promise<string> {
  // Others may pass through, not look; what is inside has modes of its own.
  await letThrough(folder)
  if (await isOpenToAll(dirname(folder))) return folder
  const note = join(folder, 'postgres-is-in')
  const known = (await readFile(note, 'utf8').catch(() => '')).trim()
  if (known) {
    await mkdir(known, { recursive: true })
    return known
  }
  // Not named after the folder: a user who removes the data folder wants to start anew.
  const home = await mkdtemp(join(await systemFolder(), 'data-'))
  await letThrough(home)
  await writeFile(note, `${home}\n`)
  return home
}

/** For root: a folder for files that the user NOBODY must read and cannot reach in their own place. */
export async function systemFolder(): Promise<string> {
  await mkdir(SYSTEM_FOLDER, { recursive: true })
  await letThrough(SYSTEM_FOLDER)
  return SYSTEM_FOLDER
}

const SEARCH = 0o011

async function letThrough(folder: string): Promise<void> {
  const { mode } = await stat(folder)
  if ((mode & SEARCH) !== SEARCH) await chmod(folder, (mode & 0o7777) | SEARCH)
}

async function isOpenToAll(folder: string): Promise<boolean> {
  const { mode } = await stat(folder)
  if ((mode & 0o001) === 0) return false
  return folder === dirname(folder) || isOpenToAll(dirname(folder))
}

async function socketFolder(home: string, owner: Owner): Promise<string> {
  const near = join(home, 'run')
  if (Buffer.byteLength(near) <= MAX_SOCKET_FOLDER) return ownedFolder(near, owner)
  // Remembered, so that a postmaster that outlived its server is found again.
  const note = join(home, 'sockets-are-in')
  const known = (await readFile(note, 'utf8').catch(() => '')).trim()
  if (known && (await isOwned(known, owner))) return known
  const base = Buffer.byteLength(tmpdir()) < MAX_SOCKET_FOLDER - 20 ? tmpdir() : '/tmp'
  const far = await mkdtemp(join(base, 'phaseline-'))
  await writeFile(note, `${far}\n`)
  return ownedFolder(far, owner)
}

/** Any user can create folders in its parent: after a reboot it may be gone, and its name taken by another user. */
async function isOwned(folder: string, { uid = process.getuid?.() }: Owner): Promise<boolean> {
  const found = await lstat(folder).catch(() => null)
  return found?.isDirectory() === true && found.uid === uid && (found.mode & 0o077) === 0
}
