import { randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { pino } from 'pino'
import { inject } from 'vitest'
import { type Connection, createPool } from '../../src/store/pool.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly name: string
  readonly connection: Connection
  /** For processes that take a URL. */
  readonly url: string
  readonly pool: Pool
}

/** A migrated database of the test's own, cloned from the run's template and dropped afterwards. */
export const createTestDatabase = (max = 6): Promise<TestDatabase> => cloneDatabase(inject('postgres').template, max)

/** A copy of a database as it is now, like a restored dump. Its connections are cut and have to be opened again. */
export async function copyDatabase({ name }: TestDatabase, max = 6): Promise<TestDatabase> {
  return await closed(name, () => cloneDatabase(name, max))
}

/** From now on the copy answers to the name of the original, which is lost. */
export async function replaceDatabase(original: TestDatabase, copy: TestDatabase): Promise<void> {
  const server = inject('postgres')
  await closed(original.name, () =>
    closed(copy.name, async () => {
      await administer(server, `alter database "${original.name}" rename to "${original.name}_lost"`)
      await administer(server, `alter database "${copy.name}" rename to "${original.name}"`)
      await administer(server, `alter database "${original.name}_lost" rename to "${copy.name}"`)
    }),
  )
}

/** Keeps the database without connections, since Postgres does not copy or rename one in use. */
async function closed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const server = inject('postgres')
  await administer(server, `alter database "${name}" allow_connections false`)
  await administer(
    server,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
  )
  try {
    return await work()
  } finally {
    await administer(server, `alter database "${name}" allow_connections true`)
  }
}

async function cloneDatabase(template: string, max: number): Promise<TestDatabase> {
  const server = inject('postgres')
  const database = `test_${randomBytes(8).toString('hex')}`
  // Twice as fast as through the log, when nothing has to be synced.
  await administer(server, `create database "${database}" template "${template}" strategy file_copy`)
  const connection = { host: server.host, port: server.port, user: server.user, database }
  const pool = createPool(connection, { max, logger: pino({ level: 'silent' }) })
  return {
    name: database,
    connection,
    url: `postgresql://${server.user}@localhost/${database}?host=${encodeURIComponent(server.host)}&port=${server.port}`,
    pool,
    async [Symbol.asyncDispose]() {
      await pool.end()
      await administer(server, `drop database "${database}" with (force)`)
    },
  }
}

async function administer(server: { host: string; port: number; user: string }, sql: string): Promise<void> {
  const client = new Client({ host: server.host, port: server.port, user: server.user, database: 'postgres' })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
