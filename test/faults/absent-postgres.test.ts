import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { freePort } from '../testkit/redis.ts'
import { SECRET_KEY } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { startSwallowingProxy } from './swallowing-proxy.ts'

/** A server that starts before its Postgres, and gets a signal to end meanwhile. */

const PRODUCT = join(import.meta.dirname, '../../src/cli/main.ts')

/** Command lines of living processes that name a folder. */
const programsOf = (folder: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(argumentsOf)
    .filter((line) => line.includes(folder))
function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}

interface Starting extends AsyncDisposable {
  readonly origin: string
  readonly dataDir: string
  output(): string
  /** SIGTERM. Returns its exit code. */
  stop(): Promise<number | null>
  ended(): Promise<number | null>
}

async function begin(env: Readonly<Record<string, string>>): Promise<Starting> {
  const dataDir = await mkdtemp(join(tmpdir(), 'phaseline-server-'))
  const port = await freePort()
  const child: ChildProcess = spawn(process.execPath, [PRODUCT, 'serve', '--no-example'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: String(port),
      PHASELINE_DATA: dataDir,
      PHASELINE_ROLES: 'gateway,engine',
      PHASELINE_TOKEN: 'a-token-of-this-test',
      PHASELINE_PROCESS_RUNTIME: 'off',
      ...env,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const exit = once(child, 'close').then(() => child.exitCode)
  return {
    origin: `http://127.0.0.1:${port}`,
    dataDir,
    output: () => output,
    ended: () => exit,
    stop() {
      child.kill('SIGTERM')
      return exit
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exit
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const through = (port: number, { connection: { user, database } }: TestDatabase, more: object = {}) => ({
  DATABASE_URL: `postgresql://${user}@127.0.0.1:${port}/${database}`,
  PHASELINE_SECRET_KEY: SECRET_KEY,
  ...more,
})
const socketOf = ({ connection: { host, port } }: TestDatabase): string => `${host}/.s.PGSQL.${port}`
const WAITS = 'the start waits for the database'
const AGAIN = 'the start has lost its database, and begins again'

/** Cuts these of the connections, counted from 1, when Postgres answers on them. */
async function startBreakingProxy(path: string, broken: readonly number[]) {
  let made = 0
  const server = createServer((client) => {
    made += 1
    const isBroken = broken.includes(made)
    const postgres = connect(path)
    for (const end of [client, postgres]) end.on('error', () => undefined)
    client.once('close', () => postgres.destroy())
    postgres.once('close', () => client.destroy())
    client.pipe(postgres)
    if (isBroken) postgres.once('data', () => client.resetAndDestroy())
    else postgres.pipe(client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: async () => void server.close() }
}

test('a start waits for its Postgres', async () => {
  await using database = await createTestDatabase(1)
  await using proxy = await startSwallowingProxy(socketOf(database))
  const refusing = proxy.refuse()
  await using server = await begin(through(proxy.port, database))
  await until(() => server.output().includes(WAITS), { what: 'it waits' })
  refusing[Symbol.dispose]()
  await until(async () => (await fetch(`${server.origin}/readyz`).catch(() => null))?.ok, { what: 'it is ready' })
  expect(await server.stop()).toBe(0)
  expect(server.output()).not.toMatch(/"stack"|defect/)
})

test('a start that loses its Postgres on the way begins again', async () => {
  await using database = await createTestDatabase(1)
  // One after another, a start asks whether Postgres is there, what stands in between, and for what its schema lacks.
  await using proxy = await startBreakingProxy(socketOf(database), [2, 6])
  await using server = await begin(through(proxy.port, database))
  await until(async () => (await fetch(`${server.origin}/readyz`).catch(() => null))?.ok, {
    ...{ what: 'it is ready', instead: server.output },
  })
  expect(server.output().split(AGAIN)).toHaveLength(3)
  expect(await server.stop()).toBe(0)
  expect(server.output()).not.toMatch(/"stack"|defect/)
})

test('a start that waited long enough says what to do', async () => {
  await using database = await createTestDatabase(1)
  const env = through(await freePort(), database, { PHASELINE_DATABASE_START_TIMEOUT_MS: '300' })
  await using server = await begin(env)
  expect(await server.ended()).toBe(4)
  expect(server.output()).toMatch(/^The database was not reachable within 0\.3 s: .*ECONNREFUSED.*DATABASE_URL/m)
  expect(server.output()).not.toMatch(/"stack"|defect/)
})

test('a start that waits for a silent Postgres ends when it is told to', async () => {
  await using database = await createTestDatabase(1)
  await using proxy = await startSwallowingProxy(socketOf(database))
  using _ = proxy.swallow()
  const env = through(proxy.port, database, { PHASELINE_DATABASE_CONNECT_TIMEOUT_MS: '500' })
  await using server = await begin(env)
  await until(() => server.output().includes(WAITS), { what: 'it waits' })
  expect(await server.stop()).toBe(0)
  expect(server.output()).not.toMatch(/"stack"|defect/)
})

test('a start that waits for the lock of the migrations ends when it is told to', async () => {
  await using database = await createTestDatabase(2)
  await using proxy = await startSwallowingProxy(socketOf(database))
  const { pool } = database
  const holder = await pool.connect()
  await holder.query('select pg_advisory_lock(72707369)')
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
  // Longer than the silence: Postgres says that they wait for a lock, so they may.
  await using server = await begin(through(proxy.port, database, { PHASELINE_DATABASE_SILENCE_MS: '200' }))
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'
    and clock_timestamp() - query_start > interval '1 s'`
  await until(async () => (await pool.query(waiting)).rowCount === 1, { what: 'it waits for the lock' })
  expect(await server.stop()).toBe(0)
  const others =
    'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and pid <> $1'
  await until(async () => (await pool.query(others, [rows[0]?.pid])).rowCount === 0, {
    what: 'it has left nothing behind',
  })
  holder.release(true)
  expect(server.output()).not.toMatch(/"stack"|defect/)
})

test('a start of the embedded Postgres ends when it is told to, and leaves nothing that runs', async () => {
  await using server = await begin({})
  await until(async () => (await readdir(server.dataDir)).length > 0, { what: 'it has begun' })
  expect(await server.stop()).toBe(0)
  const locks = (await readdir(server.dataDir)).filter((name) => name.startsWith('server.lock.'))
  // A lock that nobody holds is an empty file.
  for (const lock of locks) expect(readFileSync(join(server.dataDir, lock), 'utf8')).toBe('')
  await until(() => programsOf(server.dataDir).length === 0, { what: 'neither initdb nor Postgres runs' })
  expect(server.output()).not.toMatch(/"stack"|defect/)
})
