import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, chown, mkdir, mkdtemp, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import type { Connection } from '../pool.ts'
import { type Binaries, findBinaries, isOpenToAll } from './binaries.ts'
import { lockFolder } from './folder-lock.ts'
import { ensureDatabase, findPostmaster, type Place, socketConnection, stopPostmaster, untilReady, USER } from './postmaster.ts'

/** A Postgres of our own in a data folder: nothing to install, real durability, no port open. */

/** Postgres refuses to run as root: then it runs as this user, which needs no entry in /etc/passwd. */
const NOBODY = 65_534
const DATABASE = 'phaseline'
const MAX_LOG_BYTES = 10 * 1024 * 1024
/** A socket's path has at most 107 bytes on Linux and 103 on macOS, its name `/.s.PGSQL.5432` included. */
const MAX_SOCKET_FOLDER = 85

const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '256MB',
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  random_page_cost: '1.1',
  autovacuum_naptime: '15s',
  log_min_messages: 'warning',
}

export interface EmbeddedPostgres extends AsyncDisposable {
  readonly connection: Connection
  /** How long it took to come up, in milliseconds. */
  readonly startedInMs: number
}
export interface EmbeddedOptions {
  readonly dataDir: string
  readonly logger: Logger
  /** Beside the defaults, e.g. for tests. */
  readonly settings?: Readonly<Record<string, string>>
}

const run = promisify(execFile)

export async function startEmbeddedPostgres({ dataDir, logger, settings = {} }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const since = performance.now()
  const folder = resolve(dataDir)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = await lockFolder(folder, join(folder, 'server.lock'))
  try {
    const uid = process.getuid?.() === 0 ? NOBODY : null
    const home = await homeOf(folder, uid)
    const binaries = await findBinaries(uid, uid === null ? folder : '/var/lib/phaseline')
    const place: Place = { data: join(home, 'postgres'), sockets: await socketFolder(home, uid) }
    await initialise(place.data, binaries, uid)
    const pid = (await findPostmaster(place)) ?? (await launch(place, binaries, uid, join(home, 'postgres.log'), { ...SETTINGS, ...settings }))
    await ensureDatabase(place, DATABASE)
    const startedInMs = Math.round(performance.now() - since)
    logger.debug({ pid, startedInMs }, 'the embedded Postgres is up')
    return {
      connection: { ...socketConnection(place.sockets), database: DATABASE },
      startedInMs,
      async [Symbol.asyncDispose]() {
        await stopPostmaster(pid)
        await lock[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await lock[Symbol.asyncDispose]()
    throw error
  }
}

/** Where Postgres' own files are: in the data folder, unless the user that it runs as could not get there. */
async function homeOf(folder: string, uid: number | null): Promise<string> {
  if (uid === null) return folder
  // Others may pass through, not look: what is inside has modes of its own.
  await chmod(folder, 0o711)
  if (await isOpenToAll(folder)) return folder
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const home = join('/var/lib/phaseline', name)
  await mkdir(home, { recursive: true, mode: 0o711 })
  await writeFile(join(folder, 'postgres-is-in'), `${home}\n`)
  return home
}

async function socketFolder(home: string, uid: number | null): Promise<string> {
  const near = join(home, 'run')
  if (Buffer.byteLength(near) <= MAX_SOCKET_FOLDER) return owned(near, uid)
  // Remembered, so that a postmaster that outlived its server is found again.
  const note = join(home, 'sockets-are-in')
  const known = await readFile(note, 'utf8').catch(() => '')
  if (known && (await stat(known).catch(() => null))) return known
  const far = await mkdtemp(join(tmpdir(), 'phaseline-'))
  await writeFile(note, far)
  return owned(far, uid)
}

async function owned(folder: string, uid: number | null): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (uid !== null) await chown(folder, uid, uid)
  return folder
}

const asUser = (uid: number | null) => (uid === null ? {} : { uid, gid: uid })

/** Made under another name and renamed: a half-made cluster is never taken for a whole one. */
async function initialise(data: string, { initdb, major }: Binaries, uid: number | null): Promise<void> {
  const version = await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => null)
  if (version !== null) {
    if (Number(version) === major) return
    throw new Error(`The data folder is of Postgres ${version.trim()}, the embedded one is ${major}: dump it with the old version and restore it.`)
  }
  const part = `${data}.new`
  await rm(part, { recursive: true, force: true })
  await owned(part, uid)
  const args = ['-D', part, '-U', USER, '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-instructions']
  await run(initdb, args, { ...asUser(uid), cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } })
  await rename(part, data)
}

async function launch(
  place: Place,
  { postgres }: Binaries,
  uid: number | null,
  logFile: string,
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  const size = await stat(logFile).then((s) => s.size, () => 0)
  if (size > MAX_LOG_BYTES) await rename(logFile, `${logFile}.1`)
  const log = await open(logFile, 'a', 0o600)
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // A process group of its own, so that Ctrl-C in a terminal reaches us first and it goes down last.
  const child = spawn(postgres, ['-D', place.data, '-k', place.sockets, ...options], {
    ...asUser(uid),
    cwd: '/',
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: { LC_ALL: 'C', TZ: 'UTC' },
  })
  try {
    await untilReady(place, () => hasEnded(child))
  } finally {
    await log.close()
  }
  child.unref()
  if (child.pid === undefined) throw new Error('The embedded Postgres could not be started.')
  return child.pid
}

const hasEnded = (child: ChildProcess): boolean => child.pid === undefined || child.exitCode !== null || child.signalCode !== null
