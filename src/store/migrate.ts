import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { judgeStart } from '../core/schema-range.ts'

/** Prisma's own key: our migrations and Prisma's tools exclude each other, and so does a restore. */
export const MIGRATION_LOCK = 72_707_369
/**
 * A migration that waits for a table blocks everybody else on it. So it gives up after this time and lets others
 * through before it tries again. Milliseconds.
 */
const TABLE_LOCK_MS = 2_000
const GIVE_WAY_MS = 500

/** The table that Prisma keeps its own records in. */
export const BOOKKEEPING = `create table if not exists "_prisma_migrations" (
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

/** The names of a folder's migrations, in order: what a program knows of the schema. */
export async function knownMigrations(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

/**
 * Brings the database up to date and returns the names of the applied migrations, in order. Each migration is one
 * transaction: a killed process leaves none half applied, and the next process continues. One of two concurrent
 * processes waits. An abort rolls back the running migration. The database of a newer version is left as it is.
 * @throws MigrationError also when the database is of a newer version that this one cannot work with
 */
export async function migrate(pool: Pool, folder: string, signal?: AbortSignal): Promise<readonly string[]> {
  const migrations = await readMigrations(folder)
  signal?.throwIfAborted()
  const client = await pool.connect()
  // Postgres would finish the statement of a client that is gone.
  const stop = () => void pool.query('select pg_terminate_backend($1)', [backendOf(client)]).catch(() => undefined)
  try {
    signal?.addEventListener('abort', stop)
    signal?.throwIfAborted()
    // Others may migrate for as long as it takes.
    await client.query('set lock_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const applied = await applyMissing(client, migrations)
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK])
    await client.query('reset lock_timeout')
    client.release()
    return applied
  } catch (error) {
    // The lock goes with the connection, which may be broken.
    client.release(true)
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** The driver's types leave it out. */
const backendOf = (client: PoolClient): number | null => (client as object as { backendPid: number | null }).backendPid

async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const names = await knownMigrations(folder)
  return Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(folder, name, 'migration.sql'))
      return { name, sql: bytes.toString(), checksum: createHash('sha256').update(bytes).digest('hex') }
    }),
  )
}

async function applyMissing(client: PoolClient, migrations: readonly Migration[]): Promise<readonly string[]> {
  await client.query(BOOKKEEPING)
  const { rows } = await client.query<Applied>(
    'select migration_name, checksum, finished_at from "_prisma_migrations" where rolled_back_at is null order by migration_name::text collate "C"',
  )
  const applied = new Set(rows.map((row) => row.migration_name))
  const missing = migrations.filter(({ name }) => !applied.has(name))
  checkAll(migrations, rows, missing)
  const finished = rows.filter(({ finished_at }) => finished_at !== null)
  const problem = judgeStart(
    migrations.map(({ name }) => name),
    { applied: finished.map((row) => row.migration_name), oldest: await readOldest(client) },
  )
  if (problem) throw new MigrationError(`This version cannot start: ${problem}.`)
  for (const migration of missing) await apply(client, migration)
  return missing.map(({ name }) => name)
}

/** Null: the database is from before there was such a statement. */
async function readOldest(client: PoolClient): Promise<string | null> {
  const { rows: found } = await client.query(`select where to_regclass('schema_range') is not null`)
  if (found.length === 0) return null
  const { rows } = await client.query<{ oldest: string }>('select oldest from schema_range')
  return rows[0]?.oldest ?? null
}

/** Before anything is applied, so that a refusal leaves the database as it was. */
function checkAll(migrations: readonly Migration[], applied: readonly Applied[], missing: readonly Migration[]): void {
  const byName = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { migration_name: name, checksum, finished_at } of applied) {
    const migration = byName.get(name)
    // A newer version's failed migration was rolled back: the version before it keeps running.
    if (finished_at === null && (migration || missing.length > 0)) {
      throw new MigrationError(
        `The migration ${name} failed earlier and nothing is applied on top of it (as Prisma's P3009). Its changes were rolled back: remove the cause, then its row in "_prisma_migrations" (or: npx prisma migrate resolve --rolled-back ${name}), and start again.`,
      )
    }
    if (migration && migration.checksum !== checksum) {
      throw new MigrationError(
        `The migration ${name} was changed after it was applied: restore the file, and put the change into a new migration.`,
      )
    }
  }
}

async function apply(client: PoolClient, migration: Migration): Promise<void> {
  while (!(await tryToApply(client, migration))) await delay(GIVE_WAY_MS)
}

/** Resolves to false when others have held a table for too long; nothing has changed then. */
async function tryToApply(client: PoolClient, migration: Migration): Promise<boolean> {
  try {
    await client.query('begin')
    await client.query(`set local lock_timeout = ${TABLE_LOCK_MS}`)
    await client.query(
      `insert into "_prisma_migrations" (id, checksum, migration_name, started_at, applied_steps_count)
       values ($1, $2, $3, clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    )
    await client.query(migration.sql)
    await client.query(
      'update "_prisma_migrations" set finished_at = clock_timestamp() where migration_name = $1 and finished_at is null and rolled_back_at is null',
      [migration.name],
    )
    await client.query('commit')
    return true
  } catch (cause) {
    if (cause instanceof DatabaseError && cause.code === LOCK_NOT_AVAILABLE) {
      await client.query('rollback')
      return false
    }
    const reason = cause instanceof Error ? cause.message : String(cause)
    if (isRefused(cause)) await recordFailure(client, migration, reason)
    throw new MigrationError(`The migration ${migration.name} failed: ${reason}`, { cause })
  }
}

const LOCK_NOT_AVAILABLE = '55P03'
/** Class of error codes, e.g. of a server that is shutting down. */
const OPERATOR_INTERVENTION = '57'

/** True if the migration itself failed; a lost connection or server says nothing about it. */
const isRefused = (cause: unknown): boolean =>
  cause instanceof DatabaseError && !cause.code?.startsWith(OPERATOR_INTERVENTION)

async function recordFailure(client: PoolClient, { name, checksum }: Migration, reason: string): Promise<void> {
  await client.query('rollback')
  await client.query('insert into "_prisma_migrations" (id, checksum, migration_name, logs) values ($1, $2, $3, $4)', [
    randomUUID(),
    checksum,
    name,
    reason,
  ])
}
