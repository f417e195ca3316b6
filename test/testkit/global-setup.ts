import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/store/embedded/index.ts'
import { migrate } from '../../src/store/migrate.ts'
import { type Connection, createPool } from '../../src/store/pool.ts'
import { fastFolder, TEST_PREFIX, tidyUp } from './leftovers.ts'
import { startRedis } from './redis.ts'

export interface PostgresServer {
  /** The folder of its socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  /** A migrated database to clone. */
  readonly template: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: PostgresServer
    redis: string
  }
}

const TEMPLATE = 'phaseline_template'
const logger = pino({ level: 'silent' })
/** Tests that kill the database start one of their own, with real fsync; this one need not survive anything. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }

let servers: ReturnType<typeof startServers> | null = null

/** One Postgres and one Redis for the whole run, both real, both gone afterwards. Two projects of tests share them. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  servers ??= startServers()
  const { postgres, redis, running } = await servers
  provide('postgres', postgres)
  provide('redis', redis)
  return () => running.disposeAsync()
}

async function startServers() {
  // For the processes that tests start, and not among the user's own files.
  process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/phaseline')
  await tidyUp()
  await using starting = new AsyncDisposableStack()
  const dataDir = starting.adopt(await mkdtemp(join(await fastFolder(), TEST_PREFIX)), (folder) =>
    rm(folder, { recursive: true, force: true }),
  )
  const [postgres, redis] = await Promise.all([
    startEmbeddedPostgres({ dataDir, logger, settings: SETTINGS }),
    startRedis(),
  ])
  starting.use(postgres)
  starting.use(redis)
  const template = { ...(await makeTemplate(postgres.connection)), template: TEMPLATE }
  return { postgres: template, redis: redis.url, running: starting.move() }
}

async function makeTemplate(connection: Connection): Promise<Omit<PostgresServer, 'template'>> {
  const { host, port, user } = connection
  if (host === undefined || port === undefined || user === undefined) throw new Error('the socket is not told')
  const administration = createPool(connection, { max: 1, logger })
  await administration.query(`create database "${TEMPLATE}"`)
  await administration.end()
  const pool = createPool({ ...connection, database: TEMPLATE }, { max: 1, logger })
  await migrate(pool, join(import.meta.dirname, '../../prisma/migrations'))
  await pool.end()
  return { host, port, user }
}
