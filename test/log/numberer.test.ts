import { Socket } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import type { Signal } from '../../src/core/ports/signal.ts'
import { type Announcement, decode } from '../../src/log/announcement.ts'
import { appendChanges } from '../../src/log/append.ts'
import { openLog } from '../../src/log/identity.ts'
import { NUMBERING_LOCK, numberBatches } from '../../src/log/number-batches.ts'
import { createNumberer } from '../../src/log/numberer.ts'
import { readPage } from '../../src/log/page.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { createPool } from '../../src/store/pool.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { change, createRoot, numbered, oneTo, perTree, readAll, write } from './writer.ts'

const WAITING = `select pid from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`
const logger = pino({ level: 'silent' })

async function database(max?: number): Promise<TestDatabase> {
  const made = await createTestDatabase(max)
  onTestFinished(() => made[Symbol.asyncDispose]())
  return made
}
async function numberer({ pool }: TestDatabase, signal: Signal = createMemorySignal({ logger })) {
  const made = createNumberer({ pool, signal, logger })
  onTestFinished(() => made[Symbol.asyncDispose]())
  return made
}

test('eight writers, some rolled back, and three numberers: dense, and each tree in its order', async () => {
  const db = await database(14)
  const numberers = [await numberer(db), await numberer(db), await numberer(db)]
  const roots = await Promise.all([1, 2, 3].map(() => createRoot(db.pool)))
  const next = new Map(roots.map((root) => [root, 1]))
  const writer = async (seed: number) => {
    for (let i = 0; i < 40; i++) {
      const root = roots[(seed + i) % roots.length] as string
      const n = 1 + ((seed * 7 + i * 5) % 9)
      const rollback = (seed + i) % 5 === 0
      const underLock = () => {
        const from = next.get(root) ?? 1
        if (!rollback) next.set(root, from + n)
        return numbered(root, from, n)
      }
      await write(db.pool, root, underLock, { rollback })
      numberers[i % 3]?.committed()
    }
  }
  await Promise.all(oneTo(8).map(writer))
  await Promise.all(numberers.map((one) => one.numberAll()))

  const log = await readAll(db.pool)
  expect(log.map(({ sequence }) => sequence)).toEqual(oneTo(log.length))
  for (const [root, numbers] of perTree(log)) expect(numbers).toEqual(oneTo((next.get(root) ?? 0) - 1))
  expect(log.length).toBeGreaterThan(500)
})

test('a write that is noticed during a sweep causes another one, and a sweep that fails is repeated', async () => {
  const { promise: first, resolve: endFirst } = Promise.withResolvers<{ rows: [] }>()
  let sweeps = 0
  const pool = {
    query: () => {
      sweeps += 1
      if (sweeps === 1) return first
      return sweeps === 2 ? Promise.reject(new Error('away')) : Promise.resolve({ rows: [] })
    },
  }
  let write = () => {}
  const writes = {
    onWrite(handler: (isJump: boolean) => void) {
      write = () => handler(false)
    },
  }
  await using _numberer = createNumberer({
    ...{ pool: pool as never, writes, logger },
    signal: createMemorySignal({ logger }),
  })
  write()
  await until(() => sweeps === 1, { what: 'a sweep has begun' })
  write()
  endFirst({ rows: [] })
  await until(() => sweeps >= 3, { what: 'the second sweep has failed, and was repeated' })
})

test('a pass that waited for another one sees its result', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  await write(db.pool, root, numbered(root, 1, 3))
  const other = await db.pool.connect()
  await other.query(`begin; select pg_advisory_xact_lock(${NUMBERING_LOCK})`)
  const waiting = numberBatches(db.pool)
  await until(async () => (await other.query(WAITING)).rowCount, { what: 'the pass waits for the lock' })
  await other.query('update log_batch set first_seq = 1')
  await write(db.pool, root, numbered(root, 4, 2))
  await other.query('commit')
  other.release()
  expect(await waiting).toMatchObject({ from: 4, through: 5, full: false, batches: [{ from: 4, n: 2 }] })
  expect((await readAll(db.pool)).map(({ sequence }) => sequence)).toEqual(oneTo(5))
})

test('a readable change precedes changes written after reading it', async () => {
  const db = await database()
  const { numberAll } = await numberer(db)
  const [one, two] = [await createRoot(db.pool), await createRoot(db.pool)]
  // The first tree's transaction draws its place and is numbered only after the second tree's, which knew nothing of it.
  await write(db.pool, one, numbered(one, 1, 1), {
    held: async () => {
      await write(db.pool, two, numbered(two, 1, 1))
      await numberAll()
    },
  })
  await write(db.pool, two, numbered(two, 2, 1))
  await numberAll()
  expect((await readAll(db.pool)).map(({ rootId, message }) => [rootId, message])).toEqual([
    [two, '1'],
    [one, '1'],
    [two, '2'],
  ])
})

test('the sweep of another process numbers the commits of one that died', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  await write(db.pool, root, numbered(root, 1, 3))
  const signal = createMemorySignal({ logger })
  const heard: string[] = []
  const identity = await openLog(db.pool)
  await signal.subscribe(`phaseline:log:${identity.logId}`, (message) => void heard.push(message))
  await numberer(db, signal)
  await until(() => heard.length > 0, { what: 'the sweep announces it' })
  expect(decode(heard[0] as string, identity)).toMatchObject({
    from: 1,
    through: 3,
    changes: [{ message: '1' }, {}, {}],
  })
})

test('more batches than one pass takes, and more changes than one message holds', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  await write(db.pool, root, numbered(root, 1, 2_000))
  // As many transactions as these would take a while; their rows are the same.
  await db.pool.query(
    `with b as (insert into log_batch (id, n) select nextval('log_batch_id_seq'), 1 from generate_series(1, 11000) returning id)
      insert into log_content select b.id, c.root_id, c.object_ids[1:1], c.parent_ids[1:1], c.names[1:1], c.revisions[1:1],
        array[(2000 + row_number() over (order by b.id))::text], array[1], array[1], c.project_names, c.kinds, c.machines, c."from",
        c."to", c.actors, c."by", c.reasons, c.job_ids, c.rejected, c."at"
      from b, (select * from log_content limit 1) c`,
  )
  const signal = createMemorySignal({ logger })
  const heard: Announcement[] = []
  const identity = await openLog(db.pool)
  await signal.subscribe(
    `phaseline:log:${identity.logId}`,
    (message) => void heard.push(decode(message, identity) as Announcement),
  )
  await (await numberer(db, signal)).numberAll()
  const log = await readAll(db.pool)
  expect(log.map(({ sequence, message }) => [sequence, message])).toEqual(oneTo(13_000).map((n) => [n, String(n)]))
  await until(() => heard.length === 3, { what: 'every pass announces' })
  expect(heard.map(({ from, through, changes }) => [from, through, changes])).toEqual([
    [1, 6_999, null],
    [7_000, 11_999, null],
    [12_000, 13_000, null],
  ])
})

test('own batches are announced without a read, and equal the records of a reader', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  const made = await numberer(db)
  const heard: Announcement[] = []
  made.listen((announcement) => heard.push(announcement))
  const client = await db.pool.connect()
  const own = [change(root, { message: 'ä', by: 'ada', jobId: root, parentId: root }), change(root, { rejected: true })]
  const written = await appendChanges(client, [...own, ...numbered(root, 1, 500)])
  client.release()
  made.committed(written)
  await made.numberAll()
  await until(() => heard.length > 0, { what: 'it is announced' })
  const ALL = { projects: null, includeRejected: true }
  const page = await readPage(db.pool, ALL, { after: 0, limit: 1_000, direction: 'forward' })
  expect(heard).toMatchObject([{ from: 1, through: 502, changes: page.changes }])
  // Changes of another process have to be read.
  made.committed([{ id: '1', changes: own }])
  await write(db.pool, root, numbered(root, 1, 3))
  await made.numberAll()
  await until(() => heard.length === 2, { what: 'that is announced too' })
  expect(heard[1]).toMatchObject({ from: 503, through: 505, changes: [{ message: '1' }, {}, {}] })
})

test('numbering continues after its database connections are cut', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  const sockets = new Set<Socket>()
  const stream = () => {
    const socket = new Socket()
    sockets.add(socket)
    return socket
  }
  const connection = { ...db.connection, stream }
  const fragile = createPool(connection, { max: 4, logger })
  onTestFinished(() => fragile.end())
  const { committed } = await numberer({ ...db, pool: fragile })
  for (let i = 1; i <= 3; i++) {
    await write(db.pool, root, numbered(root, i, 1))
    // In the middle of a pass: it waits for the lock that this transaction holds.
    const holder = await db.pool.connect()
    await holder.query(`begin; select pg_advisory_xact_lock(${NUMBERING_LOCK})`)
    committed()
    await until(async () => (await holder.query(WAITING)).rowCount, { what: 'a pass waits for the lock' })
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    await holder.query('commit')
    holder.release()
  }
  const log = await until(
    async () => {
      const found = await readAll(db.pool)
      return found.length === 3 && found.every(({ sequence }) => sequence !== null) ? found : null
    },
    { what: 'all is numbered' },
  )
  expect(log.map(({ message }) => message)).toEqual(['1', '2', '3'])
})
