import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { commandOf, identityNow, identityOf, isAlive } from '../../process/identity.ts'
import type { Place } from './place.ts'
import { EmbeddedPostgresProblem } from './problem.ts'

/** A running postmaster: one that we started, or one that outlived a server that was killed. */
export interface Postmaster {
  readonly pid: number
  /** As of `identityOf`; null: it had ended already. */
  readonly identity: string | null
}

export const USER = 'phaseline'
const PORT = 5432
/** The time in postmaster.pid is a moment earlier than the start time that the server reports, in seconds. */
const START_SLACK_S = 60
const ANSWER_MS = 5_000
/** A new database is a copy of files. */
const CREATE_MS = 60_000

export const socketConnection = ({ sockets }: Pick<Place, 'sockets'>) => ({ host: sockets, port: PORT, user: USER })

/**
 * The postmaster that already runs on this folder, once it answers; null: none does, or it has ended meanwhile.
 * @throws EmbeddedPostgresProblem when the server on the socket is not the one of postmaster.pid
 */
export async function findPostmaster(place: Place, signal: AbortSignal): Promise<Postmaster | null> {
  for (;;) {
    const noted = await readPidFile(place)
    if (noted === null) return null
    const { pid, folder, since } = noted
    const identity = await identityOf(pid)
    if (identity === null) return null
    // Another process has the pid by now, as after a restart of a container.
    if (!`${await commandOf(pid)} `.includes(` -D ${place.data} `)) return null
    const found = await ask(place)
    if (found) {
      const isSame = found.folder === folder && Math.abs(found.startedAt - since) <= START_SLACK_S
      if (isSame) return { pid, identity }
      throw new EmbeddedPostgresProblem(
        `Another Postgres than that of ${place.data} answers in ${place.sockets}: stop it first.`,
      )
    }
    // It may be recovering, or going down.
    await delay(20, undefined, { signal })
  }
}

/** The last postmaster's own record; null: it ended in order, or there was none. */
export async function readPidFile(
  place: Pick<Place, 'data'>,
): Promise<{ readonly pid: number; readonly folder: string | undefined; readonly since: number } | null> {
  const text = await readFile(join(place.data, 'postmaster.pid'), 'utf8').catch(() => null)
  if (text === null) return null
  const [pid, folder, since] = text.split('\n')
  return { pid: Number(pid), folder, since: Number(since) }
}

/** The folder and the start time of the server on this socket; null: it does not answer (yet). */
export async function ask(place: Place): Promise<{ folder: string; startedAt: number } | null> {
  const client = new Client({
    ...socketConnection(place),
    database: 'postgres',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  // A server that goes down meanwhile ends the connection; the query then fails by itself.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ folder: string; startedAt: number }>(
      `select current_setting('data_directory') as folder,
         extract(epoch from pg_postmaster_start_time())::float8 as "startedAt"`,
    )
    return rows[0] ?? null
  } catch {
    return null
  } finally {
    await client.end().catch(() => {})
  }
}

export async function ensureDatabase(place: Place, name: string): Promise<void> {
  const client = new Client({
    ...socketConnection(place),
    database: 'postgres',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: CREATE_MS,
  })
  // A server that goes down between two statements ends the connection; the next one fails by itself.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database "${name}"`)
  } finally {
    await client.end()
  }
}

const FAST_STOP = 'SIGINT'

/** A fast stop: it rolls back open transactions and keeps everything committed. It is never killed. */
export async function stopPostmaster(postmaster: Postmaster): Promise<void> {
  if (!(await isRunning(postmaster))) return
  process.kill(postmaster.pid, FAST_STOP)
  while (await isRunning(postmaster)) await delay(10)
}

/**
 * Stops the postmaster with this process when that ends by itself (a second signal to stop, a defect): it cannot wait then,
 * but it can send a signal. Disposing ends this.
 */
export function stopAtExit(postmaster: () => Postmaster): Disposable {
  const tell = (): void => {
    const { pid, identity } = postmaster()
    try {
      if (identity !== null && identityNow(pid) === identity) process.kill(pid, FAST_STOP)
    } catch {
      // It ends just now; or it cannot be looked at, and the next server takes it over.
    }
  }
  process.once('exit', tell)
  return { [Symbol.dispose]: () => void process.off('exit', tell) }
}

/** One that cannot be looked at counts as running: its end would be noticed by whoever uses it. */
export const isRunning = async ({ pid, identity }: Postmaster): Promise<boolean> =>
  identity !== null && (await isAlive({ pid, identity }).catch(() => true))
