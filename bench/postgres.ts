import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '../src/store/embedded/index.ts'

export interface BenchPostgres extends AsyncDisposable {
  /** URL of the database `postgres`. */
  readonly url: string
  /** A new, empty database; resolves to its URL. One of the same name is dropped first, even if it is in use. */
  createDatabase(name: string): Promise<string>
  dropDatabase(name: string): Promise<void>
  /** Writes everything back, so that no contestant pays for the one before. */
  checkpoint(): Promise<void>
}

/**
 * Postgres 17 with the product's own settings, fsync included, in a folder of its own, reached by its Unix socket.
 * @param settings instead of the product's own
 */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<BenchPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'phaseline-bench-pg-'))
  const postgres = await startEmbeddedPostgres({ dataDir, logger: pino({ level: 'error' }), settings })
  const { host = '', port = 5432, user = '' } = postgres.connection
  const urlOf = (database: string): string =>
    `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  const execute = async (...statements: readonly string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: urlOf('postgres') })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  const dropDatabase = (name: string): Promise<void> => execute(`drop database if exists "${name}" with (force)`)
  return {
    url: urlOf('postgres'),
    async createDatabase(name) {
      await dropDatabase(name)
      await execute(`create database "${name}"`)
      return urlOf(name)
    },
    dropDatabase,
    checkpoint: () => execute('checkpoint'),
    async [Symbol.asyncDispose]() {
      await postgres[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Bytes so far: of this database, and of the log of the whole server. */
export async function writtenTo(url: string): Promise<{ readonly database: number; readonly wal: number }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ database: string; wal: string }>(
    "select pg_database_size(current_database()) as database, pg_current_wal_lsn() - '0/0' as wal",
  )
  await client.end()
  return { database: Number(rows[0]?.database), wal: Number(rows[0]?.wal) }
}
