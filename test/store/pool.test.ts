import { type AddressInfo, connect, createServer } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DEFAULT_DEADLINES } from '../../src/core/database-deadlines.ts'
import { DatabaseUnavailable, isDatabaseUnavailable } from '../../src/core/database-unavailable.ts'
import { databaseFailure } from '../../src/graphql/schema/failures.ts'
import { PoolEnded } from '../../src/store/bounded-pool.ts'
import { createPool } from '../../src/store/pool.ts'
import { prismaOn } from '../../src/store/prisma.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { freePort } from '../testkit/redis.ts'
import { PATIENCE_MS, until } from '../testkit/wait.ts'

const logger = pino({ level: 'silent' })
const deadlines = { ...DEFAULT_DEADLINES, silenceMs: 200 }

test('a connection that breaks while it is in use fails its next statement and nothing else', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  const client = await pool.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid
  await pool.query('select pg_terminate_backend($1)', [pid])
  await until(async () => (await pool.query('select from pg_stat_activity where pid = $1', [pid])).rowCount === 0, {
    what: 'the connection is broken',
  })
  await expect(client.query('select 1')).rejects.toThrow()
  client.release(true)
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('a connection that is ended as soon as it is open fails who asked for it, and not the process', async () => {
  await using database = await createTestDatabase(1)
  const { host, port, user, name } = { ...database.connection, name: database.name }
  let opened = 0
  const server = createServer({ noDelay: true }, (client) => {
    const postgres = connect(`${host}/.s.PGSQL.${port}`)
    client.on('error', () => postgres.destroy()).pipe(postgres)
    opened += 1
    if (opened > 1) return void postgres.pipe(client)
    // The driver reads that it is open and that it is ended from one packet.
    const packet: Buffer[] = []
    postgres.on('data', (chunk) => {
      packet.push(chunk)
      if (chunk.subarray(-6, -1).equals(READY_FOR_QUERY)) void database.pool.query(END_OTHERS)
    })
    postgres.once('end', () => client.end(Buffer.concat(packet)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port: held } = server.address() as AddressInfo
  const pool = createPool({ host: '127.0.0.1', port: held, user, database: name }, { max: 1, logger, deadlines })
  onTestFinished(() => pool.end())
  const refused = await pool.connect().catch((error: unknown) => error)
  expect(isDatabaseUnavailable(refused)).toBe(true)
  await until(async () => (await pool.query('select 1').catch(() => null))?.rowCount === 1, {
    what: 'a new connection',
  })
})

const READY_FOR_QUERY = Buffer.from('Z\0\0\0\x05', 'latin1')
const END_OTHERS =
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'

test('an idle connection stays open for minutes, not for ever', async () => {
  await using database = await createTestDatabase(1)
  const { pool } = database
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const serverProcess = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  const first = await serverProcess()
  vi.advanceTimersByTime(9 * 60_000)
  expect(await serverProcess()).toBe(first)
  vi.advanceTimersByTime(11 * 60_000)
  expect(await serverProcess()).not.toBe(first)
})

test('a URL keeps its own settings in addition to ours', async () => {
  await using database = await createTestDatabase()
  const connectionString = `${database.url}&options=${encodeURIComponent('-c work_mem=7MB -c jit=on')}`
  const pool = createPool({ connectionString }, { max: 1, logger })
  const { rows } = await pool.query(
    `select name, setting from pg_settings where name in ('enable_seqscan', 'idle_in_transaction_session_timeout', 'jit', 'work_mem') order by name`,
  )
  expect(rows).toEqual([
    { name: 'enable_seqscan', setting: 'off' },
    { name: 'idle_in_transaction_session_timeout', setting: '10000' },
    { name: 'jit', setting: 'on' },
    { name: 'work_mem', setting: '7168' },
  ])
  await pool.end()
})

test('a bigint is a number, or an error, and never a wrong number', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  expect((await pool.query('select 9007199254740991::int8 as n')).rows).toEqual([{ n: Number.MAX_SAFE_INTEGER }])
  await expect(pool.query('select 9007199254740993::int8 as n')).rejects.toThrow(RangeError)
  expect((await pool.query('select 1::int8 as n')).rows).toEqual([{ n: 1 }])
})

test('a statement that takes long, waits for a lock or answers slowly is not silent', async () => {
  await using database = await createTestDatabase(1)
  const pool = createPool(database.connection, { max: 3, logger, deadlines })
  onTestFinished(() => pool.end())
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select pg_advisory_xact_lock(1)')
  const waits = pool.query('select pg_advisory_xact_lock(1)')
  // Some hundred bytes at a time, which Postgres sends when it has 8 KiB of them.
  const slow = pool.query("select repeat('x', 900) as text from generate_series(1, 40) as i, pg_sleep(0.02 + i * 0)")
  expect((await pool.query('select pg_sleep(1)')).rowCount).toBe(1)
  expect((await slow).rowCount).toBe(40)
  await holder.query('commit')
  holder.release()
  await waits
})

test('statements wait for a free connection as long as they may, and no longer', async () => {
  await using database = await createTestDatabase(1)
  const pool = createPool(database.connection, {
    max: 1,
    name: 'answers',
    logger,
    deadlines: { ...deadlines, poolTimeoutMs: 1_000 },
  })
  onTestFinished(() => pool.end())
  const holder = await pool.connect()
  const exhausted = await pool.query('select 1').catch((error: unknown) => error)
  expect(databaseFailure(new Error('wrapped', { cause: exhausted }))).toMatchObject({
    message: expect.stringMatching(
      /^The one connection of the pool answers of this server stayed in use for 1000 ms: try again\./,
    ),
    extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true, retryAfterMs: 1_000, pool: 'answers' },
  })
  await expect(pool.connect()).rejects.toThrow(DatabaseUnavailable)
  holder.release()
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('a pool ends in time, whoever keeps a connection or waits for one', async () => {
  await using database = await createTestDatabase(1)
  // Longer than any pause of the machine: an end that waited for a connection would wait for this.
  const poolTimeoutMs = PATIENCE_MS - 10_000
  const pool = createPool(database.connection, { max: 2, logger, deadlines: { ...deadlines, poolTimeoutMs } })
  const [idle, busy] = [await pool.connect(), await pool.connect()]
  const running = busy.query('select pg_sleep(600)').catch((error: unknown) => error)
  const waiting = pool.connect().catch((error: unknown) => error)
  const began = performance.now()
  const ended = pool.end()
  expect(await waiting).toBeInstanceOf(PoolEnded)
  // None of the two is ever given back.
  await ended
  expect(await running).toBeInstanceOf(DatabaseUnavailable)
  await expect(idle.query('select 1')).rejects.toThrow(DatabaseUnavailable)
  await expect(pool.query('select 1')).rejects.toThrow(PoolEnded)
  expect(performance.now() - began).toBeLessThan(poolTimeoutMs)
})

test('a server that has become a standby, or ends connections, is not available; a wrong statement is wrong', async () => {
  await using database = await createTestDatabase(1)
  const { pool } = database
  await expect(pool.query('begin read only; create table t ()')).rejects.toThrow(DatabaseUnavailable)
  await expect(pool.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow(DatabaseUnavailable)
  await expect(pool.query('select 1/0')).rejects.not.toThrow(DatabaseUnavailable)
})

test('Prisma passes it on that the database is away', async () => {
  const pool = createPool({ host: '127.0.0.1', port: await freePort(), user: 'ada' }, { max: 1, logger, deadlines })
  onTestFinished(() => pool.end())
  const prisma = await prismaOn(pool)
  const failed = await prisma.project.findMany().catch((error: unknown) => error)
  expect(isDatabaseUnavailable(failed)).toBe(true)
})

test('bytes have memory of their own, so that those that are kept keep no others', async () => {
  await using database = await createTestDatabase()
  const { rows } = await database.pool.query<{ hash: Buffer }>(`select sha256('a') as hash`)
  expect(rows[0]?.hash).toHaveLength(32)
  expect(rows[0]?.hash.buffer.byteLength).toBe(32)
})
