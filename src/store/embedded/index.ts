import { mkdir, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Logger } from 'pino'
import { FolderInUse, lockFolder } from '../../process/folder-lock.ts'
import { requireOwnFolder } from '../../process/own-folder.ts'
import type { Connection } from '../pool.ts'
import { findBinaries } from './binaries.ts'
import { initialise } from './initialise.ts'
import { launch } from './launch.ts'
import { choosePlace, systemFolder } from './place.ts'
import { ensureDatabase, findPostmaster, socketConnection } from './postmaster.ts'
import { supervise } from './supervise.ts'

/** A Postgres of our own in a data folder: nothing to install, real durability, no port open. */

const DATABASE = 'phaseline'

export interface EmbeddedPostgres extends AsyncDisposable {
  readonly connection: Connection
  /** Duration of the start, in milliseconds. */
  readonly startedInMs: number
}
export interface EmbeddedOptions {
  readonly dataDir: string
  readonly logger: Logger
  /** Beside the defaults, e.g. for tests. */
  readonly settings?: Readonly<Record<string, string>>
  /** Gives up starting. */
  readonly signal?: AbortSignal
}

/**
 * Throws `FolderInUse` when another server has the folder, and an error that names the remedy when this machine, this
 * user or this data folder's version does not do. Disposing stops Postgres and keeps everything committed.
 */
export async function startEmbeddedPostgres({
  dataDir,
  logger,
  settings = {},
  signal = new AbortController().signal,
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const since = performance.now()
  const folder = await makeFolder(dataDir)
  await using starting = new AsyncDisposableStack()
  starting.use(await lockFolder({ folder, prefix: 'server.lock.', inUse: inUse(folder) }))
  const place = await choosePlace(folder)
  const binaries = await findBinaries(place.owner, async () =>
    place.owner.uid === undefined ? folder : systemFolder(),
  )
  signal.throwIfAborted()
  await initialise(place, binaries, signal)
  signal.throwIfAborted()
  const start = async (until: AbortSignal) =>
    (await findPostmaster(place, until)) ?? (await launch({ place, binaries, settings, signal: until }))
  starting.use(await supervise({ start, logger, signal }))
  await ensureDatabase(place, DATABASE)
  const startedInMs = Math.round(performance.now() - since)
  logger.debug({ startedInMs, data: place.data }, 'the embedded Postgres is up')
  const running = starting.move()
  return {
    connection: { ...socketConnection(place), database: DATABASE },
    startedInMs,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/**
 * Shares the Postgres of a server that has the folder; it keeps running.
 * @throws FolderInUse when that one does not run, since its server starts or ends
 */
export async function shareEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres(options)
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    const place = await choosePlace(await makeFolder(options.dataDir))
    const since = performance.now()
    if (!(await findPostmaster(place, options.signal ?? new AbortController().signal))) throw error
    return {
      connection: { ...socketConnection(place), database: DATABASE },
      startedInMs: Math.round(performance.now() - since),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  }
}

const inUse = (folder: string) => (pid: number) =>
  `The data folder ${folder} is in use by the server with pid ${pid}: stop that one, or set PHASELINE_DATA to another folder.`

/** By its one real name, so that one folder is one folder however it is reached. */
async function makeFolder(dataDir: string): Promise<string> {
  const folder = resolve(dataDir)
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const real = await realpath(folder)
  await requireOwnFolder(real)
  return real
}
