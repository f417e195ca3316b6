import { randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { pino } from 'pino'
import { inject } from 'vitest'
import { DEFAULT_DEADLINES } from '../../src/core/database-deadlines.ts'
import { type Connection, createPool } from '../../src/store/pool.ts'
import { PATIENCE_MS } from './wait.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly name: string
  readonly connection: Connection
  /** For processes that take a URL. */
  readonly url: string
  readonly pool: Pool
}

/** A migrated database of the test's own, cloned from the run's template and dropped afterwards. */
export const createTestDatabase = (max = 6): Promise<TestDatabase> => cloneDatabase(inject('postgres').template, max)

/** Databases that tests gave back, empty, with open connections that have prepared their statements. */
const idle: TestDatabase[] = []

/**
 * A migrated database that an earlier test of this worker may have used: it costs no clone, no connections and no preparing
 * of statements. For tests that leave the schema as it is.
 */
export async function borrowDatabase(): Promise<TestDatabase> {
  const database = idle.pop() ?? (await createTestDatabase())
  await database.pool.query(KEEP_FIRST_ROWS)
  return { ...database, [Symbol.asyncDispose]: () => giveBack(database) }
}

async function giveBack(database: TestDatabase): Promise<void> {
  try {
    await database.pool.query('select pristine.reset()')
    idle.push(database)
  } catch {
    // Something of the test still has a lock.
    await database[Symbol.asyncDispose]()
  }
}

/**
 * Copies the rows of the migrations, and makes a function that leaves only these. It deletes, since `truncate` would end the
 * plans of prepared statements, and takes ten times as long. Triggers do not run.
 */
const KEEP_FIRST_ROWS = `
do $do$
declare
  name text;
  has_rows boolean;
  body text := '';
begin
  if to_regnamespace('pristine') is not null then return; end if;
  create schema pristine;
  for name in select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> '_prisma_migrations'
  loop
    body := body || format('delete from %I;', name);
    execute format('select exists (select from %I)', name) into has_rows;
    continue when not has_rows;
    execute format('create table pristine.%I as table %I', name, name);
    body := body || format('insert into %1$I overriding system value table pristine.%1$I;', name);
  end loop;
  for name in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S' loop
    body := body || format('perform setval(%L, 1, false);', name);
  end loop;
  execute format('create function pristine.reset() returns void language plpgsql
    set session_replication_role = replica set lock_timeout = %L as $reset$ begin %s end $reset$', '2s', body);
end
$do$`

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

/** Tests keep connections on purpose, and machines differ. */
const deadlines = { ...DEFAULT_DEADLINES, poolTimeoutMs: PATIENCE_MS }
/** Tests keep locks in idle transactions, too. By itself Postgres would end those after ten seconds. */
const IDLE_SETTING = 'idle_in_transaction_session_timeout'

async function cloneDatabase(template: string, max: number): Promise<TestDatabase> {
  const server = inject('postgres')
  const database = `test_${randomBytes(8).toString('hex')}`
  // Twice as fast as through the log, when nothing has to be synced.
  await administer(server, `create database "${database}" template "${template}" strategy file_copy`)
  const connection = { host: server.host, port: server.port, user: server.user, database }
  const url = `postgresql://${server.user}@localhost/${database}?host=${encodeURIComponent(server.host)}&port=${server.port}`
  const patient = { connectionString: `${url}&options=${encodeURIComponent(`-c ${IDLE_SETTING}=${PATIENCE_MS}`)}` }
  const pool = createPool(patient, { max, logger: pino({ level: 'silent' }), deadlines })
  return {
    name: database,
    connection,
    url,
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
