import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { createPool } from '../../src/store/pool.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

/** The migration from which on the log is stored in batches. */
const LOG_CONTENT = '20261122000000_log_content'
/** From which on the journal tells an undo that has begun from one that has succeeded. */
const UNDO_STARTED = '20261123001000_undo_started'

let database: TestDatabase
let folder: string

beforeEach(async () => {
  database = await createTestDatabase()
  await database.pool.query('drop schema public cascade; create schema public')
  folder = await mkdtemp(join(tmpdir(), 'phaseline-migrations-'))
  await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"\n')
})
afterEach(async () => {
  await database[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, 'migration.sql'), sql)
}
const rows = async (sql: string): Promise<unknown[]> => (await database.pool.query(sql)).rows
const tables = async () =>
  (
    await rows(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> '_prisma_migrations'`,
    )
  ).length

test('applies missing migrations in the order of their names, once, and records it as Prisma does', async () => {
  const second = 'insert into counted values (1)'
  await write('2_second', second)
  await write('1_first', 'create table counted (n int); create index on counted (n)')
  expect(await migrate(database.pool, folder)).toEqual(['1_first', '2_second'])
  await write('3_third', 'insert into counted values (2)')
  expect(await migrate(database.pool, folder)).toEqual(['3_third'])
  expect(await migrate(database.pool, folder)).toEqual([])
  expect(await rows('select n from counted order by n')).toEqual([{ n: 1 }, { n: 2 }])
  expect(
    await rows(
      `select checksum, logs, rolled_back_at, applied_steps_count, finished_at >= started_at as finished
       from _prisma_migrations where migration_name = '2_second'`,
    ),
  ).toEqual([
    {
      checksum: createHash('sha256').update(second).digest('hex'),
      logs: null,
      rolled_back_at: null,
      applied_steps_count: 1,
      finished: true,
    },
  ])
})

test('of several processes at once, one applies and the others wait', async () => {
  await write('1_first', 'create table counted (n int); select pg_sleep(0.2); insert into counted values (1)')
  const pools = Array.from({ length: 3 }, () =>
    createPool(database.connection, { max: 1, logger: pino({ level: 'silent' }) }),
  )
  const applied = await Promise.all(pools.map((pool) => migrate(pool, folder)))
  await Promise.all(pools.map((pool) => pool.end()))
  expect(applied.flat()).toEqual(['1_first'])
  expect(await rows('select n from counted')).toEqual([{ n: 1 }])
})

test('a failed migration leaves no change, and later ones wait until it is resolved', async () => {
  await write('1_first', 'create table a ()')
  await write('2_broken', 'create table b (); select 1/0')
  await write('3_third', 'create table c ()')
  await expect(migrate(database.pool, folder)).rejects.toThrow('2_broken failed: division by zero')
  expect(await tables()).toBe(1)
  expect(await rows('select logs from _prisma_migrations where finished_at is null')).toEqual([
    { logs: 'division by zero' },
  ])

  await write('2_broken', 'create table b ()')
  await expect(migrate(database.pool, folder)).rejects.toThrow(/2_broken failed earlier .*P3009/)
  expect(await tables()).toBe(1)

  await database.pool.query('update _prisma_migrations set rolled_back_at = now() where finished_at is null')
  expect(await migrate(database.pool, folder)).toEqual(['2_broken', '3_third'])
})

const endSleeper = () =>
  until(
    async () =>
      (
        await rows(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'`)
      ).length > 0,
    { what: 'the migration is under way' },
  )

test('a killed process leaves no half migration, and the next process continues', async () => {
  await write('1_slow', 'create table a (); select pg_sleep(60)')
  const interrupted = expect(migrate(database.pool, folder)).rejects.toThrow('1_slow failed')
  await endSleeper()
  await interrupted
  await write('1_slow', 'create table a ()')
  expect(await migrate(database.pool, folder)).toEqual(['1_slow'])
})

test('nothing is applied when an applied migration was changed', async () => {
  await write('1_first', 'create table a ()')
  await migrate(database.pool, folder)
  await write('1_first', 'create table a (changed int)')
  await write('2_second', 'create table b ()')
  await expect(migrate(database.pool, folder)).rejects.toThrow('1_first was changed after it was applied')
  expect(await tables()).toBe(1)
})

test('a table that others use is waited for without keeping them from it', async () => {
  await write('1_first', 'create table a (); create table b ()')
  await migrate(database.pool, folder)
  await write('2_second', 'drop table b; alter table a add column n int')
  const user = await database.pool.connect()
  await user.query('begin; select from a')
  const applied = migrate(database.pool, folder)
  const waits = `select from pg_locks where not granted and relation = 'a'::regclass`
  await until(async () => (await rows(waits)).length > 0, { what: 'the migration waits' })
  // It queues behind the migration, which gives way.
  expect(await rows('select n from (select 1 as n) one left join a on true')).toEqual([{ n: 1 }])
  expect(await tables()).toBe(2)
  await user.query('commit')
  user.release()
  expect(await applied).toEqual(['2_second'])
  expect(await tables()).toBe(1)
})

const RANGE = '2_range'
/** Begins to say what programs have to know. */
const writeRange = () => write(RANGE, `create table schema_range as select '${RANGE}'::text as oldest`)
const forget = (name: string) => rm(join(folder, name), { recursive: true })

test('an older version leaves the database of a newer one as it is, and starts as long as that says so', async () => {
  const EXPAND = 'create table b ()'
  await write('1_first', 'create table a ()')
  await writeRange()
  await write('3_expand', EXPAND)
  await migrate(database.pool, folder)
  await forget('3_expand')
  expect(await migrate(database.pool, folder)).toEqual([])
  // A version later, nothing needs what was there before.
  await write('3_expand', EXPAND)
  await write('4_contract', `drop table a; update schema_range set oldest = '3_expand'`)
  await migrate(database.pool, folder)
  await forget('4_contract')
  expect(await migrate(database.pool, folder)).toEqual([])
  await forget('3_expand')
  await expect(migrate(database.pool, folder)).rejects.toThrow(
    "This version cannot start: a newer version has changed the database's schema to 4_contract, which works with programs from the schema 3_expand on, and this one has 2_range: start a newer version, or restore the backup from before that upgrade.",
  )
})

test('an older version starts after a newer one has failed to migrate, but adds nothing of its own', async () => {
  await writeRange()
  await write('3_newer', 'select 1/0')
  await expect(migrate(database.pool, folder)).rejects.toThrow('3_newer failed')
  await forget('3_newer')
  expect(await migrate(database.pool, folder)).toEqual([])
  await write('4_own', 'create table c ()')
  await expect(migrate(database.pool, folder)).rejects.toThrow('3_newer failed earlier')
})

test('a killed process leaves neither a contraction nor what it says about it', async () => {
  await writeRange()
  await write('3_contract', `create table b (); update schema_range set oldest = '3_contract'; select pg_sleep(60)`)
  const interrupted = expect(migrate(database.pool, folder)).rejects.toThrow('3_contract failed')
  await endSleeper()
  await interrupted
  expect(await rows('select oldest from schema_range')).toEqual([{ oldest: RANGE }])
  await forget('3_contract')
  expect(await migrate(database.pool, folder)).toEqual([])
})

test.each([
  ['from before the range was stated', 'create table b ()', '2_newer, which this version does not know'],
  ['of another line', `create table schema_range as select '1_first'::text as oldest`, 'neither older nor newer'],
])('nothing is applied to the database of a version %s', async (_, sql, problem) => {
  await write('1_first', 'create table a ()')
  await write('2_newer', sql)
  await migrate(database.pool, folder)
  await forget('2_newer')
  await write('1_other', 'create table c ()')
  await expect(migrate(database.pool, folder)).rejects.toThrow(problem)
  expect(await tables()).toBe(2)
})

/** Applies what came before a migration; returns what applies it and all that follow. */
async function migrateUpTo(name: string): Promise<() => Promise<unknown>> {
  const own = join(import.meta.dirname, '../../prisma/migrations')
  const names = (await readdir(own)).filter((one) => /^\d/.test(one)).sort()
  const migrateTo = async (some: readonly string[]) => {
    for (const one of some) await cp(join(own, one), join(folder, one), { recursive: true })
    return await migrate(database.pool, folder)
  }
  await migrateTo(names.filter((one) => one < name))
  return () => migrateTo(names.filter((one) => one >= name))
}

test('an undo that was begun before says so, and a clean-up that had failed is known as one', async () => {
  const migrateFrom = await migrateUpTo(UNDO_STARTED)
  const id = (n: number) => `00000000-0000-0000-0000-00000000000${n}`
  const jobs = [
    [1, 'UNDOING', 'CRASH', 'START UNDO START UNDO'],
    [2, 'UNDO_FAILED', 'FAILURE', 'START UNDO UNDO'],
    [3, 'UNDO_FAILED', null, 'START'],
    [4, 'FAILED', null, 'START UNDO FAILED'],
    [5, 'RUNNING', null, 'START UNDO START'],
    [6, 'UNDO_FAILED', 'CRASH', 'START UNDO START'],
    [7, 'UNDO_FAILED', 'CRASH', 'START UNDO'],
  ] as const
  const client = await database.pool.connect()
  // Neither guards nor foreign keys: only what is changed matters.
  await client.query('set session_replication_role = replica')
  for (const [n, phase, undoAfter, journal] of jobs) {
    await client.query(
      `insert into object (id, root_id, project_id, kind, name, phase, ordinal, created_at, updated_at, phase_since)
        values ($1, $1, $1, 'GADGET_JOB', 'x', $2, 0, now(), now(), now())`,
      [id(n), phase],
    )
    await client.query(`insert into gadget_job (object_id, gadget, undo_after) values ($1, 'x', $2)`, [
      id(n),
      undoAfter,
    ])
    for (const [at, entry] of journal.split(' ').entries())
      await client.query('insert into journal (object_id, n, entry, at) values ($1, $2, $3, now())', [id(n), at, entry])
  }
  client.release(true)
  await migrateFrom()
  expect(
    await rows(`select string_agg(j.entry, ' ' order by n) as journal, undo_after as "undoAfter"
      from gadget_job join journal j using (object_id) group by object_id, undo_after order by object_id`),
  ).toEqual([
    { journal: 'START UNDO START UNDO_STARTED', undoAfter: 'CRASH' },
    { journal: 'START UNDO_STARTED UNDO_STARTED', undoAfter: 'FAILURE' },
    { journal: 'START', undoAfter: 'ABORT' },
    { journal: 'START UNDO FAILED', undoAfter: null },
    { journal: 'START UNDO START', undoAfter: null },
    { journal: 'START UNDO START', undoAfter: 'ABORT' },
    { journal: 'START UNDO_STARTED', undoAfter: 'CRASH' },
  ])
})

test('a log that was stored change by change is read as it was once it is stored in batches', async () => {
  const migrateFrom = await migrateUpTo(LOG_CONTENT)
  await database.pool.query('select setseed(0.5)')
  await database.pool.query(`insert into phase_change
    select b, i, ('00000000-0000-0000-0000-00000000000' || (random() * 9)::int)::uuid,
      ('00000000-0000-0000-0000-00000000000' || b % 3)::uuid,
      case when random() < 0.5 then gen_random_uuid() end, 'project', 'DEPLOY_ITEM', 'name ' || i, 'item',
      case when random() < 0.5 then 'INIT'::phase end, (array['PROGRESSING', 'FAILED']::phase[])[1 + (random())::int],
      'CONTROLLER', case when random() < 0.3 then 'NULL' end, case when random() < 0.5 then 'a {"reason"}' end,
      case when random() < 0.2 then 'message ' || i end, case when random() < 0.5 then
      '00000000-0000-0000-0000-000000000001'::uuid end, case when random() < 0.5 then i end, random() < 0.3,
      '2026-11-21T10:00:00.123Z'::timestamptz + (random() * 2)::int * interval '1 ms'
    from generate_series(1, 40) b, generate_series(0, 40) i where i < b`)
  const log = () => rows(`select * from phase_change order by batch_id, idx`)
  const written = await log()
  const shortened = 'select batch_id, idx, name from object_phase_change where object_id = $1 order by batch_id, idx'
  expect(written).toHaveLength(820)
  await migrateFrom()
  // The migration cannot know values that were not recorded.
  expect(await log()).toEqual(
    written.map((row) => ({ ...(row as object), project_id: null, by_id: null, parent_path: null })),
  )
  type Row = { object_id: string; batch_id: number; idx: number; name: string }
  const { object_id: object } = written[0] as Row
  const { rows: ofObject } = await database.pool.query(shortened, [object])
  expect(ofObject).toEqual(
    (written as Row[])
      .filter(({ object_id }) => object_id === object)
      .map(({ batch_id, idx, name }) => ({ batch_id, idx, name })),
  )
  expect(
    await rows(
      'select batch_id from log_content where cardinality(object_ids) <> (select sum(c) from unnest(counts) c)',
    ),
  ).toEqual([])
})
