import { expect, test } from 'vitest'
import type { Client, PhaseChange } from '../../src/client/index.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { startRedis } from '../testkit/redis.ts'
import { startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

const TREES = 8
const ITEMS = 25

/** Collects what a client hears from the beginning of the log. */
function collect(client: Client, signal: AbortSignal): { readonly seen: PhaseChange[]; readonly done: Promise<void> } {
  const seen: PhaseChange[] = []
  const done = (async () => {
    for await (const batch of client.followPhases({ after: 0, signal })) seen.push(...batch.changes)
  })()
  return { seen, done }
}

test('two servers on one database and Redis drive the same trees, tell the same log, and survive each other and Redis', async () => {
  await using database = await createTestDatabase(2)
  await using redis = await startRedis()
  const token = 'side-by-side-administrator'
  const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, PHASELINE_TOKEN: token }
  await using one = await startServer({ env, token })
  await using two = await startServer({ env, token })
  const stop = new AbortController()
  const [left, right] = [collect(one.client, stop.signal), collect(two.client, stop.signal)]

  const ids: string[] = []
  for (let i = 0; i < TREES; i++) {
    ids.push(await create(i % 2 ? one.client : two.client, `tree-${i}`, items(ITEMS, { delayMs: 20 })))
    if (i === 2) await redis.restart()
    if (i === 4) {
      await two.kill()
      await two.start()
    }
  }
  for (const id of ids) {
    await until(async () => (await show(one.client, id))?.finished, { what: `tree ${id} has ended` })
    expect(await show(two.client, id)).toMatchObject({ phase: 'SUCCEEDED' })
  }
  const { rows } = await database.pool.query<{ n: number }>('select sum(n)::int as n from log_batch')
  const total = rows[0]?.n ?? 0
  await until(() => left.seen.length >= total && right.seen.length >= total, { what: 'both have heard everything' })
  expect(left.seen.map((change) => change.sequence)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
  expect(right.seen).toEqual(left.seen)
  stop.abort()
  await Promise.all([left.done, right.done])
})
