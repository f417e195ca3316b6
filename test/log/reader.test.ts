import { pino } from 'pino'
import { v7 } from 'uuid'
import { expect, onTestFinished, test, vi } from 'vitest'
import { isDatabaseUnavailable } from '../../src/core/database-unavailable.ts'
import { CursorExpired, type Log, type LogBatch, type LogCursor } from '../../src/core/ports/log.ts'
import type { PhaseChangeQuery } from '../../src/core/ports/phase-change.ts'
import type { Signal } from '../../src/core/ports/signal.ts'
import { createNumberer } from '../../src/log/numberer.ts'
import { createLog } from '../../src/log/reader.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { createRedisSignal } from '../../src/log/signal/redis.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { startRedis } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'
import { followLog } from './follow-log.ts'
import { change, createRoot, numbered, oneTo, perTree, write } from './writer.ts'

const logger = pino({ level: 'silent' })
const ALL: PhaseChangeQuery = { projects: null, includeRejected: true }

async function database(max?: number): Promise<TestDatabase> {
  const made = await createTestDatabase(max)
  onTestFinished(() => made[Symbol.asyncDispose]())
  return made
}
async function gateway({ pool }: TestDatabase, signal: Signal = createMemorySignal({ logger })) {
  const numberer = createNumberer({ pool, signal, logger })
  const log = await createLog({ pool, signal, logger, numberer })
  onTestFinished(async () => {
    await log[Symbol.asyncDispose]()
    await numberer[Symbol.asyncDispose]()
    await signal.close()
  })
  return { log, signal, numberer }
}

/** Reads until it has seen `through`, or to the end. */
async function collect(batches: AsyncIterable<LogBatch>, through: number): Promise<readonly LogBatch[]> {
  const collected: LogBatch[] = []
  for await (const batch of batches) {
    collected.push(batch)
    if (batch.through.sequence >= through) break
  }
  return collected
}
const sequences = (batches: readonly LogBatch[]) =>
  batches.flatMap(({ changes }) => changes.map(({ sequence }) => sequence))
const from = (first: number, last: number) => oneTo(last).slice(first - 1)
/** A sequence as older clients keep it. */
const bare = (sequence: number): LogCursor => ({ sequence, mark: null })
const follow = (log: Log, after?: number, query = ALL, maxBatch = 500) =>
  followLog(log, query, after === undefined ? after : bare(after), maxBatch)

/** A real signal that loses, doubles and delays what it carries, reproducibly. */
function disturbed(signal: Signal): Signal {
  let count = 0
  const late: [string, string][] = []
  return {
    // The signal claims that another gateway listens.
    connected: true,
    publish(channel, message) {
      const turn = count++ % 5
      if (turn === 0) return
      if (turn === 1) late.push([channel, message])
      else signal.publish(channel, message)
      if (turn === 2) signal.publish(channel, message)
      if (turn === 3) for (const [where, what] of late.splice(0)) signal.publish(where, what)
      if (turn === 4) signal.publish(channel, 'no announcement')
    },
    subscribe: (channel, handler) => signal.subscribe(channel, handler),
    close: () => signal.close(),
  }
}

test('resuming after any sequence, while writers go on, gives exactly the rest, in order', async () => {
  const db = await database(12)
  const { log, numberer } = await gateway(db)
  const roots = [await createRoot(db.pool), await createRoot(db.pool)]
  for (let i = 0; i < 20; i++)
    await write(db.pool, roots[i % 2] as string, numbered(roots[i % 2] as string, 3 * (i >> 1) + 1, 3))
  await numberer.numberAll()
  const total = 120
  const readers = from(1, 61).map((first) => collect(follow(log, first - 1, ALL, 1 + (first % 7)), total))
  for (let i = 10; i < 20; i++) {
    for (const root of roots) {
      await write(db.pool, root, numbered(root, 3 * i + 1, 3))
      log.committed()
    }
  }
  for (const [i, reader] of readers.entries()) {
    const batches = await reader
    expect(sequences(batches)).toEqual(from(i + 1, total))
    expect(
      batches.every(
        ({ changes, through }) => changes.length <= 1 + ((i + 1) % 7) && changes.at(-1)?.sequence === through.sequence,
      ),
    ).toBe(true)
  }
  const trees = perTree((await collect(follow(log, 0), total)).flatMap(({ changes }) => changes))
  expect([...trees.values()]).toEqual([oneTo(60), oneTo(60)])
})

test('without a cursor: changes numbered after the call, and no older ones', async () => {
  const db = await database()
  const { log, numberer } = await gateway(db)
  const root = await createRoot(db.pool)
  await write(db.pool, root, numbered(root, 1, 5))
  await numberer.numberAll()
  const live = follow(log)
  // No `next` yet: the call is the moment that counts, or as soon after it as there is a connection.
  await until(() => log.stats.listeners === 1, { what: 'it has its place' })
  await write(db.pool, root, numbered(root, 6, 5))
  log.committed()
  expect(sequences(await collect(live, 10))).toEqual(from(6, 10))
})

test.each([
  {
    name: 'disturbed',
    signals: () => {
      const bus = createMemorySignal({ logger })
      return [disturbed(bus), bus]
    },
  },
  { name: 'dumb', signals: () => [createMemorySignal({ logger }), createMemorySignal({ logger })] },
])('followers of a $name signal miss nothing and repeat nothing', async ({ signals }) => {
  const db = await database(12)
  const [here, there] = signals()
  const writer = await gateway(db, here)
  const { log } = await gateway(db, there)
  const roots = await Promise.all([1, 2, 3, 4].map(() => createRoot(db.pool)))
  const total = 4 * 40 * 3
  const query = { ...ALL, rootId: roots[0] as string }
  const readers = [0, 0, 0].map(() => collect(follow(log, 0), total))
  const own = collect(follow(log, 0, query), total)
  await Promise.all(
    roots.map(async (root) => {
      for (let i = 0; i < 40; i++) {
        await write(db.pool, root, numbered(root, 3 * i + 1, 3))
        writer.log.committed()
      }
    }),
  )
  for (const reader of readers) expect(sequences(await reader)).toEqual(oneTo(total))
  const changes = (await own).flatMap((batch) => batch.changes)
  expect(changes.map(({ rootId, message }) => [rootId, Number(message)])).toEqual(oneTo(120).map((n) => [roots[0], n]))
})

test('a restart of Redis under live followers of two gateways', async () => {
  const db = await database(14)
  await using redis = await startRedis()
  const signal = () => createRedisSignal({ url: redis.url, logger })
  const gateways = [await gateway(db, signal()), await gateway(db, signal())]
  await until(() => gateways.every((one) => one.signal.connected), { what: 'all are connected' })
  const roots = await Promise.all([1, 2].map(() => createRoot(db.pool)))
  const readers = gateways.flatMap(({ log }) => [0, 1].map(() => collect(follow(log, 0), 600)))
  const stages = [() => redis.kill(), () => redis.start(), () => redis.restart()]
  for (let i = 0; i < 100; i++) {
    for (const root of roots) await write(db.pool, root, numbered(root, 3 * i + 1, 3))
    gateways[i % 2]?.log.committed()
    if (i % 25 === 20) await stages.shift()?.()
  }
  for (const reader of readers) expect(sequences(await reader)).toEqual(oneTo(600))
})

test('a reader slower than the stream buffers little, and reads the rest again', async () => {
  const db = await database()
  const { log } = await gateway(db)
  const root = await createRoot(db.pool)
  const slow = follow(log, 0)[Symbol.asyncIterator]()
  await write(db.pool, root, numbered(root, 1, 10))
  log.committed()
  const first = (await slow.next()).value as LogBatch
  const total = 26_010
  const fast = collect(follow(log, 0), total)
  for (let i = 0; i < 13; i++) await write(db.pool, root, numbered(root, 2_000 * i + 11, 2_000))
  log.committed()
  expect(sequences(await fast)).toEqual(oneTo(total))

  const asked = vi.spyOn(db.pool, 'query')
  const rest = await collect({ [Symbol.asyncIterator]: () => slow }, total)
  expect(sequences([first, ...rest])).toEqual(oneTo(total))
  // The log's own regular questions, which have names, depend on time and not on the pages.
  const queries = asked.mock.calls.filter(([statement]) => !(statement as { readonly name?: string }).name).length
  // The end was still in memory.
  expect(queries).toBeGreaterThanOrEqual(6)
  expect(queries).toBeLessThan(20)
})

test('`through` moves on though nothing matches, in the past and live', async () => {
  const db = await database()
  const { log, numberer } = await gateway(db)
  const root = await createRoot(db.pool)
  for (let i = 0; i < 11; i++) await write(db.pool, root, numbered(root, 1, 1_000))
  await numberer.numberAll()
  const projectId = v7()
  const batches = follow(log, 0, { projects: [projectId], includeRejected: true })[Symbol.asyncIterator]()
  const next = async () => (await batches.next()).value
  for (let thousands = 1; thousands <= 11; thousands++) {
    expect(await next()).toMatchObject({ changes: [], through: { sequence: 1_000 * thousands } })
  }
  await write(db.pool, root, numbered(root, 1, 7))
  log.committed()
  expect(await next()).toMatchObject({ changes: [], through: { sequence: 11_007 } })
  const other = await createRoot(db.pool)
  await write(db.pool, other, [change(other, { projectId })])
  log.committed()
  expect(await next()).toMatchObject({ changes: [{ sequence: 11_008 }], through: { sequence: 11_008 } })
  await batches.return?.()
})

test('a cursor that is ahead, pruned, pruned on the way, or of another log is expired', async () => {
  const db = await database()
  const { log, numberer } = await gateway(db)
  const root = await createRoot(db.pool)
  for (let i = 0; i < 4; i++) await write(db.pool, root, numbered(root, 1_000 * i + 1, 1_000))
  await numberer.numberAll()
  const expired = (oldest: number, head: number) =>
    expect.objectContaining({ constructor: CursorExpired, name: 'CursorExpired', oldest, head })
  await expect(collect(follow(log, 4_001), 5_000)).rejects.toEqual(expired(1, 4_000))

  const reading = follow(log, 0)[Symbol.asyncIterator]()
  await reading.next()
  const live = follow(log, 4_000)[Symbol.asyncIterator]()
  const waiting = live.next()
  await db.pool.query('update log_meta set floor_seq = 3000')
  await expect(collect(follow(log, 2_999), 4_000)).rejects.toEqual(expired(3_001, 4_000))
  expect(sequences(await collect(follow(log, 3_000), 4_000))).toEqual(from(3_001, 4_000))
  expect((await log.page(ALL, { limit: 2, direction: 'forward' })).changes.map(({ sequence }) => sequence)).toEqual([
    3_001, 3_002,
  ])
  expect(await log.count({ ...ALL, rootId: root })).toBe(1_000)
  const rest = async () => {
    while (!(await reading.next()).done);
  }
  await expect(rest()).rejects.toEqual(expired(3_001, 4_000))

  // The last change is another one now: what was read before is of another log.
  await db.pool.query(`update log_content set at = array_fill(now(), array[array_length(at, 1)])`)
  await db.pool.query('update log_meta set log_id = gen_random_uuid()')
  await expect(waiting).rejects.toEqual(expired(3_001, 4_000))
  expect(sequences(await collect(follow(log, 3_999), 4_000))).toEqual([4_000])
})

test('numbering continues above the floor when everything below is pruned', async () => {
  const db = await database()
  const { log, numberer } = await gateway(db)
  const root = await createRoot(db.pool)
  await write(db.pool, root, numbered(root, 1, 10))
  await numberer.numberAll()
  await db.pool.query('update log_meta set floor_seq = 10')
  await db.pool.query('delete from log_content')
  await db.pool.query('delete from log_batch')
  expect((await log.end('head')).sequence).toBe(10)
  const live = collect(follow(log, 10), 12)
  await write(db.pool, root, numbered(root, 11, 2))
  log.committed()
  expect(sequences(await live)).toEqual([11, 12])
})

test('followers outlast a database that drops all its connections', async () => {
  const db = await database()
  const { log, numberer } = await gateway(db)
  const root = await createRoot(db.pool)
  const reader = collect(follow(log, 0, ALL, 1), 3_000)
  await until(() => log.stats.listeners > 0, { what: 'the follower has started' })
  // A connection that was ended while it was idle may be handed out once more, and fails before anything is written.
  const again = (error: Error) => {
    if (!isDatabaseUnavailable(error)) throw error
    return null
  }
  for (let i = 0; i < 30; i++) {
    const changes = numbered(root, 100 * i + 1, 100)
    await until(() => write(db.pool, root, changes).then(() => true, again), { what: 'it is written' })
    log.committed()
    if (i % 10 === 5) {
      await db.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
    }
  }
  await until(
    () =>
      numberer.numberAll().then(
        () => true,
        () => false,
      ),
    { what: 'all is numbered' },
  )
  expect(sequences(await reader)).toEqual(oneTo(3_000))
})
