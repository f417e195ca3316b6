import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, inject, onTestFinished, test } from 'vitest'
import { DEFAULT_DEADLINES } from '../../src/core/database-deadlines.ts'
import { DatabaseUnavailable } from '../../src/core/database-unavailable.ts'
import { passwordIn, passwordOfFile } from '../../src/store/pass-file.ts'
import { createPool } from '../../src/store/pool.ts'
import { DatabaseServers } from '../../src/store/servers.ts'
import { settingsOf } from '../../src/store/session-settings.ts'
import { startSwallowingProxy } from '../faults/swallowing-proxy.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { freePort } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'

const logger = pino({ level: 'silent' })
const socketOf = () => `${inject('postgres').host}/.s.PGSQL.${inject('postgres').port}`

test('of several servers the one that takes writes is found, whatever the others do', async () => {
  await using database = await createTestDatabase(1)
  await using silent = await startSwallowingProxy(socketOf())
  await using good = await startSwallowingProxy(socketOf())
  await using other = await startSwallowingProxy(socketOf())
  using _swallowed = silent.swallow()
  const { user } = inject('postgres')
  const hosts = [await freePort(), silent.port, good.port].map((port) => `127.0.0.1:${port}`)
  const connectionString = `postgresql://${user}@${hosts.join(',')},127.0.0.1:${other.port}/${database.name}`
  const off = other.refuse()
  const pool = createPool({ connectionString }, { max: 2, logger, deadlines: DEFAULT_DEADLINES })
  onTestFinished(() => pool.end())
  const client = await pool.connect()
  expect(client).toMatchObject({ place: { port: good.port } })
  // It goes away, and the next connections go elsewhere.
  off[Symbol.dispose]()
  using _refusing = good.refuse()
  await expect(client.query('select 1')).rejects.toThrow(DatabaseUnavailable)
  client.release(true)
  const next = await pool.connect()
  expect(next).toMatchObject({ place: { port: other.port } })
  expect((await next.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  next.release()
})

test('a server that takes no writes is left, and its connections are closed', async () => {
  await using database = await createTestDatabase(1)
  await database.pool.query(`alter database "${database.name}" set default_transaction_read_only = on`)
  const { host, port, user } = inject('postgres')
  const at = `postgresql://${user}@localhost/${database.name}?host=${encodeURIComponent(host)}&port=${port}`
  const reading = createPool({ connectionString: at }, { max: 1, logger })
  onTestFinished(() => reading.end())
  const pidOf = async () => (await reading.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  const before = await pidOf()
  await expect(reading.query('create table t ()')).rejects.toThrow(DatabaseUnavailable)
  await until(async () => (await pidOf().catch(() => before)) !== before, { what: 'the connection is another one' })
  const writing = createPool({ connectionString: `${at}&target_session_attrs=read-write` }, { max: 1, logger })
  onTestFinished(() => writing.end())
  await expect(writing.query('select 1')).rejects.toThrow(/takes no writes/)
})

test('a login that was refused is read again, once for all, and the request goes on', async () => {
  await using database = await createTestDatabase(1)
  const { host, port, user } = inject('postgres')
  const urlFor = (name: string) =>
    `postgresql://${name}@localhost/${database.name}?host=${encodeURIComponent(host)}&port=${port}`
  let reads = 0
  const readUrl = async () => {
    reads += 1
    return urlFor(user)
  }
  const servers = new DatabaseServers({ connection: { connectionString: urlFor('nobody_of_that_name') }, readUrl })
  const pool = createPool(servers, { max: 4, logger })
  onTestFinished(() => pool.end())
  const answers = await Promise.all([1, 2, 3].map((n) => pool.query(`select ${n} as n`)))
  expect(answers.map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
  expect(reads).toBe(1)
  const client = await pool.connect()
  expect((await client.query('select current_user::text as name')).rows).toEqual([{ name: user }])
  client.release()
})

test('a login that stays refused is an outage, and not a defect', async () => {
  await using database = await createTestDatabase(1)
  const { host, port } = inject('postgres')
  const connectionString = `postgresql://nobody_of_that_name@localhost/${database.name}?host=${encodeURIComponent(host)}&port=${port}`
  const pool = createPool({ connectionString }, { max: 1, logger })
  onTestFinished(() => pool.end())
  await expect(pool.query('select 1')).rejects.toThrow(DatabaseUnavailable)
})

test('passwords are found in a file as libpq finds them', async () => {
  const text = [
    '# of the team',
    'db:5432:x:ada:first',
    'db:*:*:ada:se\\:co\\\\nd',
    'localhost:*:*:*:of the socket',
    'too:short',
    '',
  ].join('\n')
  const login = { host: 'db', port: 5432, database: 'x', user: 'ada' }
  expect(passwordIn(text, login)).toBe('first')
  expect(passwordIn(text, { ...login, port: 1 })).toBe('se:co\\nd')
  expect(passwordIn(text, { ...login, host: '/run/pg' })).toBe('of the socket')
  expect(passwordIn(text, { ...login, user: 'eve' })).toBeNull()
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-pass-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'pgpass')
  await writeFile(file, text, { mode: 0o600 })
  expect(await passwordOfFile(file, login)).toBe('first')
  await chmod(file, 0o640)
  await expect(passwordOfFile(file, login)).rejects.toThrow(/0600/)
  expect(await passwordOfFile(join(folder, 'none'), login)).toBeNull()
})

test('settings of sessions are read as Postgres reads them', () => {
  expect(settingsOf('-c work_mem=7MB -cjit=on --enable-seqscan=off -c a.b=read\\ committed')).toEqual([
    ['work_mem', '7MB'],
    ['jit', 'on'],
    ['enable_seqscan', 'off'],
    ['a.b', 'read committed'],
  ])
})

test('connections whose prepared statements are of tables that were replaced are given up at once, those of all pools', async () => {
  await using database = await createTestDatabase(1)
  const make = `create type colour as enum ('RED'); create table paint (colour colour); insert into paint values ('RED')`
  await database.pool.query(make)
  const servers = new DatabaseServers({ connection: database.connection })
  const pools = [2, 2].map((max) => createPool(servers, { max, logger }))
  onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.end()))))
  const statements = [
    { name: 'shows', text: 'select * from paint' },
    { name: 'takes', text: 'select 1 as one from paint where colour = $1', values: ['RED'] },
  ]
  const onEach = () =>
    Promise.all(
      pools.map(async (pool) => {
        const clients = await Promise.all([pool.connect(), pool.connect()])
        try {
          for (const client of clients) for (const statement of statements) await client.query(statement)
        } finally {
          for (const client of clients) client.release()
        }
      }),
    )
  for (const statement of statements) {
    await onEach()
    await database.pool.query(`drop table paint; drop type colour; ${make}`)
    await expect(pools[0]?.query(statement)).rejects.toThrow(DatabaseUnavailable)
    await onEach()
  }
})
