import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { acquire, release } from '../../src/families/operations/store/locks.ts'
import type { Client } from '../../src/store/client.ts'
import { migrate } from '../../src/store/migrate.ts'
import { createPool } from '../../src/store/pool.ts'
import type { PeerOptions } from '../harness-peer.ts'
import { type LockContestant, serveLocks } from '../lock-peer.ts'

/** The lock manager as the engine calls it: giving back and asking are a transaction each. */

const MIGRATIONS = join(import.meta.dirname, '../../prisma/migrations')
const LOCKS = [{ resource: 'host', mode: 'EXCLUSIVE' }] as const

await serveLocks(open)

async function open({ url }: PeerOptions): Promise<LockContestant> {
  const pool = createPool({ connectionString: url }, { max: 1, logger: pino({ level: 'warn' }), planOnce: true })
  await migrate(pool, MIGRATIONS)
  const queue: string[] = []
  const ask = (objectId: string): Promise<boolean> =>
    within(pool, (client) => acquire(client, { objectId, locks: LOCKS, now: new Date() }))
  return {
    async wait(waiters) {
      queue.push(...(await addJobs(pool, waiters + 1)))
      await within(pool, async (client) => {
        for (const objectId of queue) await acquire(client, { objectId, locks: LOCKS, now: new Date() })
      })
      await pool.query('vacuum analyze lock')
    },
    async grant(count) {
      for (let i = 0; i < count; i++) {
        const holder = queue.shift() ?? ''
        const granted = await within(pool, (client) => release(client, [holder], new Date()))
        const held = await ask(holder)
        if (granted[0]?.objectId !== queue[0] || held) throw new Error('a waiter got the lock before its turn')
        queue.push(holder)
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

async function within<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } finally {
    client.release()
  }
}

async function addJobs(pool: Pool, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  await pool.query(
    `with p as (
      insert into project (id, name, created_at, updated_at) values ($2, 'locks', now(), now()) returning id
    ) insert into object (id, root_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
     select j, j, p.id, 'TASK', j::text, 0, 'PENDING', now(), now(), now()
     from unnest($1::uuid[]) j, p`,
    [ids, randomUUID()],
  )
  return ids
}
