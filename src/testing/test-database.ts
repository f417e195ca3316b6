import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { createLogger } from '../logger.ts'
import { MIGRATIONS_FOLDER } from '../start/package-folder.ts'
import { startEmbeddedPostgres } from '../store/embedded/index.ts'
import { migrate } from '../store/migrate.ts'
import { type Connection, createPool } from '../store/pool.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
}

/** Nothing is synced, since no test needs what it wrote after a crash. Each server opens up to 30 connections. */
const SETTINGS = { fsync: 'off', shared_buffers: '64MB', max_connections: '400' }
const TEMPLATE = 'template_of_tests'

let folder: Promise<string> | null = null
let postgres: Promise<Connection> | null = null

/** For the files of this process's servers. It is removed once the process has ended, however it ends. */
export const testFolder = (): Promise<string> => (folder ??= makeFolder())

/** A migrated database in the Postgres of this process. It is dropped when it is disposed. */
export async function createTestDatabase(): Promise<TestDatabase> {
  postgres ??= startPostgres()
  const server = await postgres
  const name = `test_${randomBytes(8).toString('hex')}`
  // Much faster than through the log, when nothing has to be synced.
  await administer(server, `create database "${name}" template ${TEMPLATE} strategy file_copy`)
  const { host = '', port = 5432, user = '' } = server
  return {
    url: `postgresql://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    [Symbol.asyncDispose]: () => administer(server, `drop database "${name}" with (force)`),
  }
}

/** Takes a second or two, so the Postgres stays for later tests of this process, and ends with it. */
async function startPostgres(): Promise<Connection> {
  const logger = createLogger('fatal', process.stderr)
  const { connection } = await startEmbeddedPostgres({ dataDir: await testFolder(), logger, settings: SETTINGS })
  await administer(connection, `create database ${TEMPLATE}`)
  const pool = createPool({ ...connection, database: TEMPLATE }, { max: 1, logger })
  await migrate(pool, MIGRATIONS_FOLDER)
  await pool.end()
  return connection
}

/** Waits for the end of its input, which comes with the process that started it, however that ends. */
const REMOVE = `cat > /dev/null
home=$(cat "$1/postgres-is-in" 2> /dev/null || echo "$1")
pid=$(head -n 1 "$home/postgres/postmaster.pid" 2> /dev/null) && kill -QUIT "$pid" &&
  while kill -0 "$pid" 2> /dev/null; do sleep 0.05; done
rm -rf "$home" "$1"`

/** Test runners kill their workers, which can tidy up nothing then: a shell outlives this process and does it. */
async function makeFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'phaseline-testing-'))
  const shell = spawn('sh', ['-c', REMOVE, 'sh', path], {
    ...{ cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  })
  shell.on('error', () => {})
  shell.unref()
  const input = shell.stdin as Socket
  input.on('error', () => {})
  input.unref()
  return path
}

async function administer(server: Connection, sql: string): Promise<void> {
  const client = new Client({ ...server, database: 'postgres' })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
