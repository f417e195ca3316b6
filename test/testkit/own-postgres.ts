import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '../../src/store/embedded/index.ts'
import type { Connection } from '../../src/store/pool.ts'
import { fastFolder, TEST_PREFIX } from './leftovers.ts'

const logger = pino({ level: 'silent' })
/** Not synced, since these tests do not crash the machine. */
const SETTINGS = { fsync: 'off', shared_buffers: '32MB' }

/** A Postgres of the test's own, whose files can be copied while it runs, as for a standby. */
export interface OwnPostgres extends AsyncDisposable {
  readonly connection: Connection
  /** The path of its socket. */
  readonly socket: string
  /**
   * Copies its files as they are now and returns how to start a server from them.
   * @param promoted it begins a timeline of its own, as a standby does that is promoted; otherwise nothing tells it apart
   */
  copy(promoted: boolean): Promise<() => Promise<OwnPostgres>>
  /** A hot standby that follows it. */
  standby(): Promise<OwnPostgres>
}

/** @param settings beside those of tests */
export async function startOwnPostgres(
  folder?: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<OwnPostgres> {
  const dataDir = folder ?? (await mkdtemp(join(await fastFolder(), TEST_PREFIX)))
  const postgres = await startEmbeddedPostgres({ dataDir, logger, settings: { ...SETTINGS, ...settings } })
  const { connection } = postgres
  const socket = `${connection.host}/.s.PGSQL.${connection.port}`
  return {
    connection,
    socket,
    async copy(promoted) {
      const target = await mkdtemp(join(await fastFolder(), TEST_PREFIX))
      await copyFiles(connection, dataDir, target, promoted ? PROMOTED : {})
      return () => startOwnPostgres(target, settings)
    },
    async standby() {
      const target = await mkdtemp(join(await fastFolder(), TEST_PREFIX))
      const { host, port, user } = connection
      await copyFiles(connection, dataDir, target, {
        'standby.signal': '',
        'postgresql.auto.conf': `primary_conninfo = 'host=${host} port=${port} user=${user}'\n`,
      })
      return await startOwnPostgres(target, settings)
    },
    async [Symbol.asyncDispose]() {
      await postgres[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Files of the running server, which the copy must not have. */
const OWN = new Set(['postmaster.pid', 'postmaster.opts'])

const PROMOTED = { 'recovery.signal': '', 'postgresql.auto.conf': "restore_command = 'false'\n" }

/** @param added further files, by name */
async function copyFiles(
  connection: Connection,
  from: string,
  to: string,
  added: Readonly<Record<string, string>>,
): Promise<void> {
  const client = new Client(connection)
  await client.connect()
  try {
    const { rows } = await client.query<{ data: string }>(
      "select setting as data from pg_settings where name = 'data_directory'",
    )
    const data = rows[0]?.data ?? ''
    const copy = join(to, 'postgres')
    await client.query("select pg_backup_start('copy', true)")
    await cp(data, copy, { recursive: true, filter: (path) => !OWN.has(path.slice(data.length + 1)) })
    const label = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await writeFile(join(copy, 'backup_label'), label.rows[0]?.labelfile ?? '')
    // The log that was written while the files were copied.
    await cp(join(data, 'pg_wal'), join(copy, 'pg_wal'), { recursive: true, force: true })
    for (const [name, content] of Object.entries(added)) await writeFile(join(copy, name), content)
    // It runs as whoever the original does.
    const files = await readdir(from)
    await promisify(execFile)('chown', ['-R', `--reference=${data}`, copy])
    await promisify(execFile)('chmod', [`--reference=${from}`, to])
    if (files.length === 0) throw new Error('there is nothing to copy')
  } finally {
    await client.end()
  }
}

/** An address for a server that may be replaced by another one: connections to the old one are cut. */
export interface Switch extends AsyncDisposable {
  readonly url: string
  /** @param postgres null: no server answers */
  to(postgres: Pick<OwnPostgres, 'socket'> | null): void
}

export async function startSwitch(first: Pick<OwnPostgres, 'socket' | 'connection'>): Promise<Switch> {
  let target: string | null = first.socket
  const open = new Set<Socket>()
  const server: Server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => undefined)
    if (target === null) return client.destroy()
    const postgres = connect(target)
    open.add(client)
    client.pipe(postgres).pipe(client)
    postgres.on('error', () => client.destroy()).once('close', () => client.destroy())
    client.once('close', () => {
      open.delete(client)
      postgres.destroy()
    })
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  const { user, database } = first.connection
  return {
    url: `postgresql://${user}@127.0.0.1:${address.port}/${database}`,
    to(postgres) {
      target = postgres?.socket ?? null
      for (const client of open) client.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const client of open) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
