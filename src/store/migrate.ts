import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'

/** Prisma's own key: our migrations and Prisma's tools exclude each other. */
const LOCK = 72_707_369

const BOOKKEEPING = `create table if not exists "_prisma_migrations" (
  "id" varchar(36) primary key not null,
  "checksum" varchar(64) not null,
  "finished_at" timestamptz,
  "migration_name" varchar(255) not null,
  "logs" text,
  "rolled_back_at" timestamptz,
  "started_at" timestamptz not null default now(),
  "applied_steps_count" integer not null default 0
)`

interface Migration {
  readonly name: string
  readonly sql: string
  readonly checksum: string
}
interface Applied {
  readonly migration_name: string
  readonly checksum: string
  readonly finished_at: Date | null
}

/** Why a database cannot be brought up to date, and what to do. */
export class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MigrationError'
  }
}

/** Brings the database up to date, each migration in a transaction of its own. Two processes at once: one waits. */
export async function migrate(pool: Pool, folder: string): Promise<readonly string[]> {
  const migrations = await readMigrations(folder)
  const client = await pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    try {
      return await applyMissing(client, migrations)
    } finally {
      await client.query('select pg_advisory_unlock($1)', [LOCK])
    }
  } finally {
    client.release()
  }
}

async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

async function applyMissing(client: PoolClient, migrations: readonly Migration[]): Promise<readonly string[]> {
  await client.query(BOOKKEEPING)
  const { rows } = await client.query<Applied>(
    'select migration_name, checksum, finished_at from "_prisma_migrations" where rolled_back_at is null',
  )
  const applied = new Map(rows.map((row) => [row.migration_name, row]))
  const unknown = rows.find((row) => !migrations.some(({ name }) => name === row.migration_name))
  if (unknown) {
    throw new MigrationError(
      `the database has the migration ${unknown.migration_name}, which this version does not know: it is newer`,
    )
  }
  const done: string[] = []
  for (const migration of migrations) {
    const known = applied.get(migration.name)
    if (known) check(migration, known)
    else {
      await apply(client, migration)
      done.push(migration.name)
    }
  }
  return done
}

function check({ name, checksum }: Migration, known: Applied): void {
  if (known.finished_at === null) {
    throw new MigrationError(
      `the migration ${name} failed before (P3009): repair the database and resolve it with Prisma's migrate resolve`,
    )
  }
  if (known.checksum !== checksum) {
    throw new MigrationError(`the migration ${name} was changed after it was applied: restore the file`)
  }
}

async function apply(client: PoolClient, { name, sql, checksum }: Migration): Promise<void> {
  const id = randomUUID()
  await client.query('insert into "_prisma_migrations" (id, checksum, migration_name) values ($1, $2, $3)', [
    id,
    checksum,
    name,
  ])
  try {
    await client.query('begin')
    await client.query(sql)
    await client.query('update "_prisma_migrations" set finished_at = now(), applied_steps_count = 1 where id = $1', [
      id,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    const message = error instanceof Error ? error.message : String(error)
    await client.query('update "_prisma_migrations" set logs = $2 where id = $1', [id, message])
    throw new MigrationError(`the migration ${name} failed: ${message}`, { cause: error })
  }
}
