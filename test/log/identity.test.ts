import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { CursorExpired, type Log, type LogBatch, type LogCursor } from '../../src/core/ports/log.ts'
import type { Signal } from '../../src/core/ports/signal.ts'
import { appendChanges } from '../../src/log/append.ts'
import { cursorAt, decodeCursor, encodeCursor } from '../../src/log/cursor.ts'
import { openLog } from '../../src/log/identity.ts'
import { createNumberer } from '../../src/log/numberer.ts'
import { readPage } from '../../src/log/page.ts'
import { createLog } from '../../src/log/reader.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { copyDatabase, createTestDatabase, replaceDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { followLog } from './follow-log.ts'
import { change, createRoot, write } from './writer.ts'

const logger = pino({ level: 'silent' })
const ALL = { projects: null, includeRejected: true } as const
const bare = (sequence: number): LogCursor => ({ sequence, mark: null })
const expired = expect.objectContaining({ constructor: CursorExpired })

async function database(made: Promise<TestDatabase> = createTestDatabase()): Promise<TestDatabase> {
  const db = await made
  onTestFinished(() => db[Symbol.asyncDispose]())
  return db
}

/** Stopped before its database goes. */
async function gateway({ pool }: TestDatabase, signal: Signal = createMemorySignal({ logger })) {
  const numberer = createNumberer({ pool, signal, logger })
  const log = await createLog({ pool, signal, logger, numberer })
  const stop = async () => {
    await log[Symbol.asyncDispose]()
    await numberer[Symbol.asyncDispose]()
  }
  onTestFinished(stop)
  return { log, numberer, stop }
}

let written = 0
/** So many transactions of a change each, in the log when this ends. Each is at a time of its own, as all are. */
async function grow(db: TestDatabase, log: Log, rootId: string, n: number): Promise<void> {
  for (let i = 0; i < n; i++) {
    written += 1
    const at = new Date(Date.UTC(2026, 10, 21) + written)
    await write(db.pool, rootId, [change(rootId, { at, message: String(written) })])
    log.committed()
  }
  await log.caughtUp()
}

async function cursors({ pool }: TestDatabase): Promise<readonly LogCursor[]> {
  const { changes } = await readPage(pool, ALL, { after: 0, limit: 1_000, direction: 'forward' })
  return [bare(0), ...changes.map(cursorAt)]
}
const messages = async ({ pool }: TestDatabase) =>
  (await readPage(pool, ALL, { after: 0, limit: 1_000, direction: 'forward' })).changes.map(({ message }) => message)

async function read(log: Log, after: LogCursor, through: number): Promise<readonly (string | null)[]> {
  const found: (string | null)[] = []
  for await (const batch of followLog(log, ALL, after, 500)) {
    found.push(...batch.changes.map(({ message }) => message))
    if (batch.through.sequence >= through) break
  }
  return found
}

test('after a restore only cursors of the restored log resume; a bare number only where all histories agree', async () => {
  const db = await database()
  const before = await gateway(db)
  const root = await createRoot(db.pool)
  await grow(db, before.log, root, 32)
  const copy = await database(copyDatabase(db))
  await grow(db, before.log, root, 32)
  const places = await cursors(db)
  await before.stop()

  const { log } = await gateway(copy)
  await grow(copy, log, root, 38)
  const rest = await messages(copy)
  expect(log.stats.epoch).toBe(2)
  expect(await log.end('common')).toEqual(places[32])
  for (const sequence of [0, 1, 20, 32]) {
    expect(await read(log, places[sequence] as LogCursor, 70)).toEqual(rest.slice(sequence))
    expect(await read(log, bare(sequence), 70)).toEqual(rest.slice(sequence))
    expect((await log.page(ALL, { after: bare(sequence), limit: 1, direction: 'forward' })).changes).toHaveLength(1)
  }
  for (const place of [...places.slice(33), bare(33), bare(64), bare(70)]) {
    await expect(read(log, place, 70)).rejects.toEqual(expired)
    await expect(log.page(ALL, { after: place, limit: 5, direction: 'forward' })).rejects.toEqual(expired)
    await expect(log.page(ALL, { before: place, limit: 5, direction: 'backward' })).rejects.toEqual(expired)
    await expect(log.requireReached(place)).rejects.toEqual(expired)
  }
  const now = await cursors(copy)
  for (const sequence of [33, 64, 70]) {
    expect((await log.page(ALL, { after: now[sequence], limit: 100, direction: 'forward' })).changes).toHaveLength(
      70 - sequence,
    )
  }
  await log.requireReached(now[70] as LogCursor)
})

test('numbers are certain only where all histories agree, however many there were', async () => {
  const db = await database()
  const first = await gateway(db)
  const root = await createRoot(db.pool)
  await grow(db, first.log, root, 10)
  const older = await database(copyDatabase(db))
  const second = await gateway(older)
  await grow(older, second.log, root, 20)
  await first.stop()
  const newer = await database(copyDatabase(older))
  const { log } = await gateway(newer)
  await grow(newer, log, root, 5)
  expect(log.stats.epoch).toBe(3)
  expect(await read(log, bare(10), 35)).toHaveLength(25)
  await expect(read(log, bare(25), 35)).rejects.toEqual(expired)
})

const again = (work: () => Promise<unknown>) =>
  until(
    () =>
      work().then(
        () => true,
        () => false,
      ),
    { what: 'the database is reached again' },
  )

test('a failover under open subscriptions: readers within the copy continue, readers ahead of it get CURSOR_EXPIRED', async () => {
  const db = await database()
  const { log } = await gateway(db)
  const root = await createRoot(db.pool)
  await grow(db, log, root, 32)
  const live = followLog(log, ALL, bare(0), 500)[Symbol.asyncIterator]()
  const received: LogBatch[] = []
  const hear = async (through: number) => {
    while ((received.at(-1)?.through.sequence ?? 0) < through) received.push((await live.next()).value)
    return received.flatMap(({ changes }) => changes.map(({ message }) => message))
  }
  await hear(32)
  const copies = [await database(copyDatabase(db)), await database(copyDatabase(db))]
  await replaceDatabase(db, copies[0] as TestDatabase)
  await again(() => grow(db, log, root, 1))
  await grow(db, log, root, 32)
  const all = await messages(db)
  expect(await hear(all.length)).toEqual(all)
  expect(log.stats.epoch).toBe(2)

  const waiting = live.next()
  waiting.catch(() => undefined)
  await replaceDatabase(db, copies[1] as TestDatabase)
  await again(() => grow(db, log, root, 1))
  // Beyond where the reader was.
  await grow(db, log, root, 64)
  await expect(waiting).rejects.toEqual(expired)
  expect((await log.end('common')).sequence).toBe(32)
})

test('a failover before a process has numbered anything: readers get nothing that the old database had not committed', async () => {
  const db = await database()
  const { log } = await gateway(db)
  const root = await createRoot(db.pool)
  const copy = await database(copyDatabase(db))
  const client = await db.pool.connect()
  await client.query('begin')
  for (let i = 0; i < 9; i++) log.appended(await appendChanges(client, [change(root, { message: 'lost' })]))
  await client.query('rollback')
  client.release()
  await replaceDatabase(db, copy)
  const live = followLog(log, ALL, bare(0), 500)[Symbol.asyncIterator]()
  const hear = async () => ((await live.next()).value as LogBatch).changes
  const other = await gateway(db)
  await again(() => grow(db, other.log, root, 1))
  const before = await hear()
  // The copy gives the id of a lost transaction to this one.
  await grow(db, log, root, 1)
  expect([...before, ...(await hear())].map(({ message }) => message)).toEqual(await messages(db))
})

test('a restart of connections, or a new identity by hand, expires no cursor', async () => {
  const db = await database()
  const { log } = await gateway(db)
  const root = await createRoot(db.pool)
  await grow(db, log, root, 5)
  const live = followLog(log, ALL, bare(0), 10)[Symbol.asyncIterator]()
  await live.next()
  const waiting = live.next()
  await db.pool.query('update log_meta set log_id = gen_random_uuid()')
  await until(() => log.stats.epoch === 2, { what: 'the new epoch is noticed' })
  await grow(db, log, root, 1)
  expect((await waiting).value).toMatchObject({ changes: [{ sequence: 6 }] })
  await live.return?.()
})

test('a copy on the same signal that looks like the original puts nothing into its stream', async () => {
  const signal = createMemorySignal({ logger })
  const connected: Signal = { ...signal, connected: true }
  const db = await database()
  const { log } = await gateway(db, connected)
  const root = await createRoot(db.pool)
  await grow(db, log, root, 3)
  const copy = await database(copyDatabase(db))
  // As a copy of the files would be: the very same identity and key.
  await copy.pool.query('update log_meta set server = log_server(), instance = log_instance()')
  const own = await openLog(copy.pool)
  expect(own).toMatchObject({ logId: (await openLog(db.pool)).logId, epoch: 1 })
  const live = followLog(log, ALL, bare(3), 10)[Symbol.asyncIterator]()
  const heard: unknown[] = []
  const reading = (async () => {
    for await (const { changes } of { [Symbol.asyncIterator]: () => live }) heard.push(...changes.map((c) => c.message))
  })()
  await until(() => log.stats.listeners === 1, { what: 'it listens' })

  const other = await gateway(copy, connected)
  await grow(copy, other.log, root, 12)
  signal.publish(`phaseline:log:${own.logId}`, `${own.logId} AAAA {"from":4,"through":4,"changes":null}`)
  await until(() => log.stats.unverified > 1, { what: 'they were heard' })
  await again(() => grow(db, log, root, 2))
  const all = await messages(db)
  await until(() => heard.length >= all.length - 3, { what: 'its own are told' })
  expect(heard).toEqual(all.slice(3))
  await live.return?.()
  await reading
})

test('cursors are opaque, and other texts are refused', () => {
  const place = { sequence: 64, mark: 'abcdefghij_-' }
  for (const one of [place, bare(0), bare(7)]) expect(decodeCursor(encodeCursor(one))).toEqual(one)
  const of = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const wrong = [[-1], [1.5], ['1'], [1, 'short'], [1, 2], [1, place.mark, 3], [], 7, null, { length: 1 }].map(of)
  for (const text of [...wrong, '', 'x', of([1, place.mark]).repeat(9), of([2 ** 60])]) {
    expect(decodeCursor(text)).toBeUndefined()
  }
})
