import { expect, test } from 'vitest'
import { sweep } from '../../src/store/sweep.ts'
import { createTestDatabase } from '../testkit/postgres.ts'

const MINUTE_MS = 60_000
const DONE = Date.UTC(2026, 0, 1)

test('finished work of deleted objects is deleted, a bounded part each minute, in every part of the table', async () => {
  await using db = await createTestDatabase()
  await db.pool.query(
    `insert into work (object_id, root_id, type, action, state, seq, triggered_at, done_at, config)
      select gen_random_uuid(), gen_random_uuid(), 'mock', 'RECONCILE', 2, i, $1, $1, to_json(repeat(i::text, 300))
      from generate_series(10001, 20000) i`,
    [new Date(DONE)],
  )
  const left = async () => Number((await db.pool.query('select count(*) as n from work')).rows[0].n)
  const day = DONE + 24 * 60 * MINUTE_MS
  await sweep(db.pool, new Date(day), ['REMOVE'])
  expect(await left()).toBe(10_000)
  const counts: number[] = []
  for (let minute = 1; minute <= 4; minute++) {
    await sweep(db.pool, new Date(day + minute * MINUTE_MS), ['REMOVE'])
    counts.push(await left())
  }
  expect(counts[0]).toBeGreaterThan(0)
  expect(counts[0]).toBeLessThan(10_000)
  expect(counts.at(-1)).toBe(0)
})
