import { pino } from 'pino'
import { v7 } from 'uuid'
import { expect, onTestFinished, test } from 'vitest'
import { CursorExpired } from '../../src/core/ports/log.ts'
import type { PhaseChangeQuery } from '../../src/core/ports/phase-change.ts'
import { appendChanges } from '../../src/log/append.ts'
import { readHead } from '../../src/log/head.ts'
import { openLog } from '../../src/log/identity.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { countChanges, readPage } from '../../src/log/page.ts'
import { type PruneStep, pruneStep } from '../../src/log/prune.ts'
import { createPruner } from '../../src/log/pruner.ts'
import { createLog } from '../../src/log/reader.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { treeAt } from '../../src/log/tree-at.ts'
import { countHistories, loadHistories, loadPhaseChanges } from '../../src/store/loaders/phase-changes.ts'
import { TestClock } from '../testkit/clock.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { followLog } from './follow-log.ts'
import { randomBatches, replay, secondaryMachines } from './replay.ts'
import { change, createRoot, write } from './writer.ts'

const logger = pino({ level: 'silent' })
const ALL = { projects: null, includeRejected: true } as const
const START = Date.UTC(2026, 0, 1)
/** The n-th change of a test is made in its n-th second. */
const second = (n: number): Date => new Date(START + 1_000 * n)

async function database(max?: number): Promise<TestDatabase> {
  const made = await createTestDatabase(max)
  onTestFinished(() => made[Symbol.asyncDispose]())
  return made
}

/** `n` batches of `size` changes of one object each, made one after another from this second on, and numbered. */
async function grow({ pool }: TestDatabase, rootId: string, from: number, n: number, size = 1): Promise<void> {
  for (let i = 0; i < n; i++) {
    const at = second(from + i)
    await write(
      pool,
      rootId,
      Array.from({ length: size }, () => change(rootId, { objectId: v7(), at })),
    )
  }
  while ((await numberBatches(pool)) !== null);
}

async function pruneAll({ pool }: TestDatabase, before: Date): Promise<readonly PruneStep[]> {
  const steps: PruneStep[] = []
  do steps.push(await pruneStep(pool, { before, secondaryMachines }))
  while (steps.at(-1) !== 'done')
  return steps
}

const rowsOf = async ({ pool }: TestDatabase) => {
  const { rows } = await pool.query<{ changes: number; batches: number; floor: number }>(
    `select (select count(*) from phase_change) as changes, (select count(*) from log_batch) as batches,
      (select floor_seq from log_meta) as floor`,
  )
  return rows[0]
}

/** Makes the next step wait in its transaction, until disposed: it needs a row that this one holds. */
async function keepOpen({ pool }: TestDatabase, row: string): Promise<AsyncDisposable> {
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query(`select from ${row} for update`)
  return {
    async [Symbol.asyncDispose]() {
      await holder.query('commit')
      holder.release()
    },
  }
}
const isHeld = async ({ pool }: TestDatabase): Promise<number | undefined> => {
  const { rows } = await pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rows[0]?.pid
}

interface Stretch {
  readonly after?: number
  readonly before?: number
  readonly limit: number
  readonly direction: 'forward' | 'backward'
}
const bare = (sequence: number) => ({ sequence, mark: null })
/** A page as a query gets it. */
async function list({ pool }: TestDatabase, query: PhaseChangeQuery, { after, before, ...rest }: Stretch) {
  const signal = createMemorySignal({ logger })
  await using log = await createLog({ pool, signal, logger })
  const places = {
    ...(after === undefined ? {} : { after: bare(after) }),
    ...(before === undefined ? {} : { before: bare(before) }),
  }
  return (await log.page(query, { ...rest, ...places })).changes
}

test('after any pruning, each sequence from the floor on shows the tree as it was', async () => {
  const db = await database()
  const roots = [v7(), v7(), v7()]
  for (const changes of randomBatches(roots, 5, second)) {
    await appendChanges(db.pool, changes)
    await numberBatches(db.pool)
  }
  const log = (await readPage(db.pool, ALL, { after: 0, limit: 1_000, direction: 'forward' })).changes
  expect(log.length).toBeGreaterThan(100)

  let floor = 0
  const seen = new Set<PruneStep>()
  for (let cutoff = 7; floor < log.length; cutoff += 7) {
    let step: PruneStep
    do {
      step = await pruneStep(db.pool, { before: second(cutoff), secondaryMachines })
      seen.add(step)
      const head = await readHead(db.pool)
      expect(head).toMatchObject({ head: log.length })
      // Nothing that is young enough is pruned, and less than a batch of what is too old is left.
      expect(head.floor).toBeLessThan(cutoff)
      if (step === 'done') expect(head.floor).toBeGreaterThanOrEqual(Math.min(log.length, cutoff - 1) - 5)
      floor = head.floor
      const rest = log.slice(floor)
      expect((await readPage(db.pool, ALL, { after: 0, limit: 1_000, direction: 'forward' })).changes).toEqual(rest)
      expect(await countChanges(db.pool, ALL)).toBe(rest.length)
      for (const rootId of roots) {
        for (const sequence of [floor, floor + 1, floor + 5, log.length].filter((s) => s <= log.length)) {
          expect(await treeAt(db.pool, { rootId, sequence: sequence }, secondaryMachines)).toEqual({
            sequence,
            objects: replay(log, rootId, sequence),
          })
        }
        if (floor > 0)
          await expect(treeAt(db.pool, { rootId, sequence: floor - 1 }, secondaryMachines)).rejects.toThrow(
            CursorExpired,
          )
      }
    } while (step !== 'done')
  }
  expect(seen).toEqual(new Set(['advanced', 'removed', 'done']))
  expect(await rowsOf(db)).toEqual({ changes: 0, batches: 0, floor: log.length })
  // Only what lives is kept of what is pruned.
  const living = roots.flatMap((rootId) => replay(log, rootId, log.length))
  const { rows } = await db.pool.query('select count(*) as n from floor_state')
  expect(rows).toEqual([{ n: living.length }])
  expect(living.length).toBeGreaterThan(0)
})

test('a young change keeps the ones after it, and a backlog is pruned in steps', async () => {
  const db = await database()
  const rootId = await createRoot(db.pool)
  await grow(db, rootId, 0, 3, 1_500)
  await grow(db, rootId, 1_000, 1)
  await grow(db, rootId, 4, 1)
  const steps = await pruneAll(db, second(500))
  // Two batches are the first that make a whole step.
  expect(steps).toEqual(['advanced', 'removed', 'advanced', 'removed', 'done'])
  expect(await rowsOf(db)).toEqual({ changes: 2, batches: 2, floor: 4_500 })
})

test.each([
  { name: 'floor moves', row: 'log_meta', outcome: 'advanced' },
  { name: 'rows are deleted', row: 'log_batch where first_seq = 1', outcome: 'removed' },
])(
  'while the $name, writers, the numberer and readers continue, and no other process prunes',
  async ({ row, outcome }) => {
    const db = await database(10)
    // As processes do at their start.
    await openLog(db.pool)
    const rootId = await createRoot(db.pool)
    await grow(db, rootId, 0, 20)
    if (outcome === 'removed')
      expect(await pruneStep(db.pool, { before: second(10), secondaryMachines })).toBe('advanced')
    const floor = outcome === 'removed' ? 10 : 0

    let step: Promise<PruneStep>
    {
      await using _held = await keepOpen(db, row)
      step = pruneStep(db.pool, { before: second(10), secondaryMachines })
      await until(() => isHeld(db), { what: 'the step waits in its transaction' })
      await grow(db, rootId, 20, 20)
      expect(await readHead(db.pool)).toMatchObject({ floor, head: 40 })
      expect(await list(db, ALL, { after: floor, limit: 100, direction: 'forward' })).toHaveLength(40 - floor)
      expect((await treeAt(db.pool, { rootId, sequence: 40 }, secondaryMachines)).objects).toHaveLength(40)
      expect(await pruneStep(db.pool, { before: second(10), secondaryMachines })).toBe('elsewhere')
    }
    expect(await step).toBe(outcome)
    await pruneAll(db, second(10))
    expect(await rowsOf(db)).toEqual({ changes: 30, batches: 30, floor: 10 })
    expect((await treeAt(db.pool, { rootId, sequence: 40 }, secondaryMachines)).objects).toHaveLength(40)
  },
)

test('after a crash between the floor and the deletes nothing pruned is shown, and the next run finishes', async () => {
  const db = await database(10)
  const rootId = await createRoot(db.pool)
  for (let i = 0; i < 20; i++) await write(db.pool, rootId, [change(rootId, { at: second(i), message: String(i) })])
  await numberBatches(db.pool)
  const whole = await list(db, ALL, { limit: 100, direction: 'forward' })
  expect(await pruneStep(db.pool, { before: second(10), secondaryMachines })).toBe('advanced')

  {
    await using _held = await keepOpen(db, 'log_batch where first_seq = 1')
    const killed = expect(pruneStep(db.pool, { before: second(10), secondaryMachines })).rejects.toThrow()
    const pid = await until(() => isHeld(db), { what: 'the step waits in its transaction' })
    await db.pool.query('select pg_terminate_backend($1)', [pid])
    await killed
  }
  expect(await rowsOf(db)).toEqual({ changes: 20, batches: 20, floor: 10 })

  const window = { after: null, before: null, backward: false, limit: 100 }
  const rest = whole.slice(10)
  for (const query of [ALL, { ...ALL, rootId }]) {
    expect(await list(db, query, { limit: 100, direction: 'forward' })).toEqual(rest)
    expect(await countChanges(db.pool, query)).toBe(10)
  }
  expect((await loadHistories(db.pool, [rootId], true, window)).get(rootId)?.map((c) => c.sequence)).toEqual(
    rest.map((c) => c.sequence),
  )
  expect(await countHistories(db.pool, [rootId], true)).toEqual(new Map([[rootId, 10]]))
  expect(await loadPhaseChanges(db.pool, whole, null)).toHaveLength(10)
  for (const cursors of [{ after: 9 }, { before: 10 }, { after: 21 }]) {
    await expect(list(db, ALL, { ...cursors, limit: 5, direction: 'forward' })).rejects.toMatchObject({
      name: 'CursorExpired',
      oldest: 11,
      head: 20,
    })
  }
  expect(await list(db, ALL, { after: 10, limit: 1, direction: 'forward' })).toEqual(rest.slice(0, 1))
  expect(await list(db, ALL, { before: 11, limit: 1, direction: 'backward' })).toEqual([])

  const clock = new TestClock(second(10).getTime() + 60_000)
  await using pruner = createPruner({ pool: db.pool, system: clock, logger, secondaryMachines, retentionMs: 60_000 })
  await pruner.prune()
  expect(await rowsOf(db)).toEqual({ changes: 10, batches: 10, floor: 10 })
  clock.advance(5_000)
  await pruner.prune()
  expect(await rowsOf(db)).toEqual({ changes: 5, batches: 5, floor: 15 })
})

test('a reader that the floor passes gets CURSOR_EXPIRED, and has missed nothing before', async () => {
  const db = await database(10)
  const rootId = await createRoot(db.pool)
  await grow(db, rootId, 0, 5, 1_000)
  const signal = createMemorySignal({ logger })
  await using log = await createLog({ pool: db.pool, signal, logger })
  const abort = new AbortController()
  const [everything, tree] = [ALL, { ...ALL, rootId }].map((query) =>
    followLog(log, query, bare(0), 100, abort.signal)[Symbol.asyncIterator](),
  )
  const live = followLog(log, ALL, bare(5_000), 100, abort.signal)[Symbol.asyncIterator]()
  const waiting = live.next()
  for (const reader of [everything, tree]) {
    let next = 1
    const read = async () => {
      for (let i = 0; ; i++) {
        const { value, done } = (await reader?.next()) ?? { done: true }
        if (done || !value) return
        expect(value.changes.map(({ sequence }) => sequence)).toEqual(value.changes.map((_, n) => next + n))
        next += value.changes.length
        if (i === 0) await pruneAll(db, second(4))
      }
    }
    await expect(read()).rejects.toMatchObject({ name: 'CursorExpired', oldest: 4_001, head: 5_000 })
    expect(next).toBeLessThan(4_001)
    if (reader === everything) {
      // Below the floor from the start.
      await expect(followLog(log, ALL, bare(3_999), 100, abort.signal)[Symbol.asyncIterator]().next()).rejects.toThrow(
        CursorExpired,
      )
    }
  }
  const rest = await followLog(log, ALL, bare(4_000), 1_000, abort.signal)[Symbol.asyncIterator]().next()
  expect(rest.value).toMatchObject({ through: { sequence: 5_000 } })
  // A live reader notices nothing, even when everything it has read is pruned.
  await pruneAll(db, second(100))
  await grow(db, rootId, 200, 1)
  expect((await waiting).value).toMatchObject({ changes: [{ sequence: 5_001 }], through: { sequence: 5_001 } })
  abort.abort()
  await signal.close()
})
