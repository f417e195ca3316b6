import { expect, test } from 'vitest'
import { sweep } from '../../src/store/sweep.ts'
import { createTestDatabase } from '../testkit/postgres.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const REMOVALS = { outlivingActions: ['REMOVE'], agentRetentionMs: null } as const
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
  await sweep(db.pool, new Date(day), REMOVALS)
  expect(await left()).toBe(10_000)
  const counts: number[] = []
  for (let minute = 1; minute <= 4; minute++) {
    await sweep(db.pool, new Date(day + minute * MINUTE_MS), REMOVALS)
    counts.push(await left())
  }
  expect(counts[0]).toBeGreaterThan(0)
  expect(counts[0]).toBeLessThan(10_000)
  expect(counts.at(-1)).toBe(0)
})

test('agents are removed that were not heard of for the retention, and the oldest beyond ten thousand of one principal', async () => {
  await using db = await createTestDatabase()
  const add = (name: string, count: number, daysAgo: number) =>
    db.pool.query(
      `insert into agent (id, principal_id, name, instance, actor, types, connected_at, seen_at)
        select gen_random_uuid(), md5($1)::uuid, $1, $2 || i, 'DEPLOYER', '{mock}', $3, $3 from generate_series(1, $4::integer) i`,
      [name, `${daysAgo}-`, new Date(DONE - daysAgo * DAY_MS), count],
    )
  await add('few', 2, 1)
  await add('few', 3, 8)
  await add('many', 10_000, 1)
  await add('many', 5, 2)
  const left = async () =>
    (
      await db.pool.query(`select name, split_part(instance, '-', 1) as days, count(*)::integer as count
      from agent group by 1, 2 order by 1, 2`)
    ).rows.map(({ name, days, count }) => `${name} ${days} ${count}`)
  await sweep(db.pool, new Date(DONE), REMOVALS)
  expect(await left()).toEqual(['few 1 2', 'few 8 3', 'many 1 10000'])
  await sweep(db.pool, new Date(DONE), { ...REMOVALS, agentRetentionMs: 7 * DAY_MS })
  expect(await left()).toEqual(['few 1 2', 'many 1 10000'])
})
