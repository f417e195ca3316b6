import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/store/embedded/index.ts'
import { migrate } from '../../src/store/migrate.ts'
import { createPool } from '../../src/store/pool.ts'
import { ensureRedis, startRedis } from './redis.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: { host: string; port: number; user: string; template: string }
    redis: string
  }
}

const TEMPLATE = 'phaseline_template'

/** One Postgres and one Redis for the whole run, both real, both gone afterwards. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  ensureRedis()
  const logger = pino({ level: 'silent' })
  const dataDir = await mkdtemp(join(tmpdir(), 'phaseline-test-'))
  // Tests that kill the database start one of their own, with real fsync; this one need not survive anything.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }
  const postgres = await startEmbeddedPostgres({ dataDir, logger, settings })
  const { host, port, user, database } = postgres.connection
  await makeTemplate(postgres.connection)
  const redis = await startRedis()
  provide('postgres', { host: host as string, port: port as number, user: user as string, template: TEMPLATE })
  provide('redis', redis.url)

  async function makeTemplate(connection: typeof postgres.connection): Promise<void> {
    const client = new Client({ ...connection, database: database as string })
    await client.connect()
    await client.query(`create database "${TEMPLATE}"`)
    await client.end()
    const pool = createPool({ ...connection, database: TEMPLATE }, { max: 1, logger })
    await migrate(pool, join(import.meta.dirname, '../../prisma/migrations'))
    await pool.end()
  }

  return async () => {
    await redis[Symbol.asyncDispose]()
    await postgres[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true, force: true })
  }
}
