import { pino } from 'pino'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import type { PhaseChangeQuery } from '../../src/core/ports/phase-change.ts'
import { appendChanges } from '../../src/log/append.ts'
import { indexStep, without } from '../../src/log/log-text.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { createLog } from '../../src/log/reader.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { firstOf, STRETCH, stretchOf } from '../../src/log/stretch.ts'
import { timeWindow } from '../../src/log/time-window.ts'
import { wordsOf } from '../../src/log/words.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { change } from './writer.ts'

const logger = pino({ level: 'silent' })
const START = Date.parse('2026-11-20T00:00:00Z')
const at = (minutes: number): Date => new Date(START + minutes * 60_000)

test('times become sequences, with as many looks at the log as its length has digits', async () => {
  await using db = await createTestDatabase()
  // A transaction an hour, of one to four changes; one of them was committed late, and one clock went wrong for a moment.
  for (let hour = 0; hour < 100; hour++) {
    const minutes = hour * 60 + (hour === 40 ? -4 : hour === 70 ? 8 : 0)
    const written = Array.from({ length: 1 + (hour % 4) }, () => change(v7(), { at: at(minutes) }))
    for (const one of written) await appendChanges(db.pool, [one])
  }
  await numberBatches(db.pool)
  const { rows } = await db.pool.query<{ sequence: number; at: Date }>(
    'select b.first_seq as sequence, c.at from log_batch b join phase_change c on c.batch_id = b.id order by 1',
  )
  for (let minute = -30; minute < 100 * 60 + 30; minute += 17) {
    const [since, until] = [at(minute), at(minute + 90)]
    const { after, before } = await timeWindow(db.pool, { since, until })
    const inside = rows.filter((row) => row.at >= since && row.at < until)
    expect(inside.every(({ sequence }) => sequence > after && sequence < before)).toBe(true)
    // The window holds little more than the changes of that time.
    expect(Math.min(before, 251) - after - 1).toBeLessThanOrEqual(inside.length + 9)
  }
  expect(await timeWindow(db.pool, {})).toEqual({ after: 0, before: Number.POSITIVE_INFINITY })
})

test('a page looks through a bounded stretch, and the next one goes on where it ended', () => {
  const log = { floor: 100, head: 1_000 }
  const all = { after: 0, before: Number.POSITIVE_INFINITY }
  expect(stretchOf({ after: 0, direction: 'backward' }, all, log, 300)).toEqual({ after: 700, before: 1_001, end: 701 })
  expect(stretchOf({ after: 0, before: 701, direction: 'backward' }, all, log, 300)).toMatchObject({
    after: 400,
    end: 401,
  })
  expect(stretchOf({ after: 0, before: 401, direction: 'backward' }, all, log, 300)).toEqual({
    after: 100,
    before: 401,
    end: null,
  })
  expect(stretchOf({ after: 0, direction: 'forward' }, all, log, 300)).toEqual({ after: 100, before: 401, end: 400 })
  expect(stretchOf({ after: 400, direction: 'forward' }, { after: 500, before: 600 }, log, 300)).toEqual({
    after: 500,
    before: 600,
    end: null,
  })
})

test('a search of a long log answers page by page, and finds each match once', async () => {
  await using db = await createTestDatabase()
  const needle = (name: string) => change(v7(), { name, parentPath: 'hay/deploy-items', parentId: v7() })
  const hay = async (count: number): Promise<void> => {
    // As many transactions would take a while.
    await db.pool.query(
      `with b as (
        insert into log_batch (id, n) select nextval('log_batch_id_seq'), 1000 from generate_series(1, $1) returning id
      ) insert into log_content (batch_id, root_id, object_ids, parent_ids, names, revisions, messages, steps, counts,
          project_names, kinds, machines, "from", "to", actors, "by", reasons, job_ids, rejected, at)
        select b.id, $2, array_fill($2::uuid, array[1000]), array_fill(null::uuid, array[1000]),
          array_fill('straw'::text, array[1000]), array_fill(1, array[1000]), array_fill(null::text, array[1000]),
          array_fill(1, array[1000]), array[1000], array['default'], array['INSTALLATION']::object_kind[], array['installation'],
          array['PENDING']::phase[], array['INIT']::phase[], array['USER']::actor[], array['ann'], array[null::text],
          array[null::uuid], array[false], array[timestamptz '2026-11-21T10:00:00Z']
        from b`,
      [count, v7()],
    )
  }
  await appendChanges(db.pool, [needle('first')])
  await hay(STRETCH / 1_000)
  await appendChanges(db.pool, [needle('second')])
  await hay(STRETCH / 2_000)
  await numberBatches(db.pool)
  await using log = await createLog({ pool: db.pool, signal: createMemorySignal({ logger }), logger })
  const query: PhaseChangeQuery = { projects: null, includeRejected: true, words: wordsOf('HAY/deploy-items/') }

  for (const direction of ['backward', 'forward'] as const) {
    const found: string[] = []
    let pages = 0
    let place: Awaited<ReturnType<typeof log.page>>['reached'] = null
    do {
      const from = place && (direction === 'backward' ? { before: place } : { after: place })
      const page = await log.page(query, { ...from, limit: 10, direction })
      found.push(...page.changes.map(({ name }) => name))
      place = page.reached
      pages += 1
    } while (place !== null)
    expect([found, pages]).toEqual([direction === 'backward' ? ['second', 'first'] : ['first', 'second'], 2])
  }
  // A page that is full needs no more.
  expect(await log.page(query, { limit: 1, direction: 'backward' })).toMatchObject({
    changes: [{ name: 'second' }],
    reached: null,
  })
})

test('stretches without the words are skipped, and a page looks at so many of the others', () => {
  const stretches = [
    { first: 11, last: 20 },
    { first: 21, last: 30 },
    { first: 41, last: 50 },
  ]
  const parts = without({ after: 5, before: 61 }, stretches)
  expect(parts).toEqual([
    { after: 5, before: 11 },
    { after: 30, before: 41 },
    { after: 50, before: 61 },
  ])
  expect(without({ after: 10, before: 51 }, stretches)).toEqual([{ after: 30, before: 41 }])
  expect(firstOf(parts, { direction: 'forward', end: null }, 100)).toEqual({ parts, end: null })
  expect(firstOf(parts, { direction: 'forward', end: null }, 9)).toEqual({
    parts: [parts[0], { after: 30, before: 35 }],
    end: 34,
  })
  expect(firstOf(parts, { direction: 'backward', end: 3 }, 12)).toEqual({
    parts: [parts[2], { after: 38, before: 41 }],
    end: 39,
  })
  expect(firstOf(parts, { direction: 'backward', end: 3 }, 10)).toEqual({ parts: [parts[2]], end: 41 })
})

test('a search finds the same with and without the text of the log, whatever is pruned meanwhile', async () => {
  await using db = await createTestDatabase()
  const names = ['Ünï', 'web', 'db', 'cache', 'queue']
  for (let batch = 0; batch < 90; batch++) {
    const root = v7()
    // Each name is rare: some stretches are without it.
    const name = names[Math.floor(batch / 9) % names.length] ?? ''
    const own = { objectId: root, name, parentPath: `shop-${batch % 7}/in`, parentId: root, message: `says ${batch}` }
    await appendChanges(
      db.pool,
      Array.from({ length: 100 }, (_, i) => change(root, { ...own, reason: `${i % 3}` })),
    )
  }
  await numberBatches(db.pool)
  await using log = await createLog({ pool: db.pool, signal: createMemorySignal({ logger }), logger })
  const searches = [
    'web',
    'ünï',
    'Ünï',
    'web shop-3/in',
    'SAYS 89',
    'shop-1/in/queue',
    'nowhere',
    '/',
    'x\0',
    'deploy web',
  ]
  const find = async (search: string, direction: 'forward' | 'backward') =>
    (
      await log.page({ projects: null, includeRejected: true, words: wordsOf(search) }, { limit: 150, direction })
    ).changes.map(({ sequence }) => sequence)
  const findAll = async () => {
    const found: unknown[] = []
    for (const search of searches) found.push(await find(search, 'forward'), await find(search, 'backward'))
    return found
  }
  const before = await findAll()
  const steps: boolean[] = []
  do steps.push(await indexStep(db.pool))
  while (steps.at(-1))
  expect(steps).toEqual([true, true, true, true, false])
  expect(await findAll()).toEqual(before)
  expect(before.flat().length).toBeGreaterThan(1_000)
  // Once a stretch is pruned its text goes; one that is pruned in part stays.
  await db.pool.query('update log_meta set floor_seq = 2500')
  await indexStep(db.pool)
  const { rows } = await db.pool.query('select first_seq::int as first from log_text order by 1')
  expect(rows.map(({ first }) => first)).toEqual([2_001, 4_001, 6_001])
})
