import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { pino } from 'pino'
import type { Change, WrittenBatch } from '../../src/core/ports/phase-change.ts'
import { appendChanges } from '../../src/log/append.ts'
import { createNumberer } from '../../src/log/numberer.ts'
import { createRedisSignal } from '../../src/log/signal/redis.ts'
import { createPool } from '../../src/store/pool.ts'
import { type Message, type Publisher, settingOf } from './fan-out-peer.ts'

const CONNECTIONS = 4

/**
 * The writer of Phaseline, as its engine writes: one transaction for the changes of one tree, under the lock of its
 * root, the log last; then the numberer, which announces over Redis. It writes nothing but the phase changes.
 */
export async function createPublisher(roots: readonly string[]): Promise<Publisher> {
  const logger = pino({ level: 'warn' })
  const pool = createPool({ connectionString: settingOf('DATABASE_URL') }, { max: CONNECTIONS + 2, logger })
  const signal = createRedisSignal({ url: settingOf('REDIS_URL'), logger })
  const numberer = createNumberer({ pool, signal, logger })
  const projectId = await createRoots(pool, roots)
  return {
    maxBatch: roots.length === 1 ? 100 : 2_000,
    async publish(messages, committed) {
      const trees = [...Map.groupBy(messages, ({ rootId }) => rootId)]
      let next = 0
      const work = async (): Promise<void> => {
        for (let tree = trees[next++]; tree; tree = trees[next++]) {
          const written = await write(pool, tree, projectId)
          committed(tree[1])
          numberer.committed(written)
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, work))
    },
    async [Symbol.asyncDispose]() {
      await numberer[Symbol.asyncDispose]()
      await signal.close()
      await pool.end()
    },
  }
}

async function write(
  pool: Pool,
  [rootId, messages]: readonly [string, readonly Message[]],
  projectId: string,
): Promise<readonly WrittenBatch[]> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query({ name: 'lock', text: 'select from object where id = $1 for no key update', values: [rootId] })
    const written = await appendChanges(
      client,
      messages.map((message) => toChange(message, projectId)),
    )
    await client.query('commit')
    return written
  } finally {
    client.release()
  }
}

const toChange = ({ rootId, objectId, kind, name, from, to, at }: Message, projectId: string): Change => ({
  objectId,
  rootId,
  parentId: rootId,
  // Roots are named after their ids.
  parentPath: rootId,
  projectId,
  projectName: 'default',
  kind,
  name,
  machine: 'deployItem',
  from,
  to,
  actor: 'DEPLOYER',
  by: 'built-in',
  byId: null,
  reason: null,
  message: null,
  jobId: rootId,
  revision: 2,
  rejected: false,
  at,
})

/** Returns the id of their project. */
async function createRoots(pool: Pool, roots: readonly string[]): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(`select id from project where name = 'default'`)
  const [project] = rows
  if (!project) throw new Error('There is no project default.')
  await pool.query(
    `insert into object (id, root_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
     select r, r, $2, 'INSTALLATION', r::text, 0, 'PENDING', now(), now(), now() from unnest($1::uuid[]) r`,
    [roots, project.id],
  )
  return project.id
}

export const newRoots = (n: number): readonly string[] => Array.from({ length: n }, () => randomUUID())
