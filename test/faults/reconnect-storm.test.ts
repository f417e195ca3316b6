import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { createNumberer } from '../../src/log/numberer.ts'
import { createRedisSignal } from '../../src/log/signal/redis.ts'
import { createRoot, numbered, oneTo, write } from '../log/writer.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { startRedis } from '../testkit/redis.ts'
import { startServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts'

const SUBSCRIBERS = soak(20, 40)
const CHANGES = soak(1_000, 2_000)
const TREES = 4
const BATCH = 5

/** A subscriber with a socket of its own that resumes until it has everything, and all sequences that it has received. */
function subscribe(proxy: CuttingProxy, token: string) {
  const client = createClient({ url: `http://127.0.0.1:${proxy.port}/graphql`, token })
  const seen: number[] = []
  const done = (async () => {
    for await (const { changes } of client.followPhases({ after: 0, maxBatch: 50 })) {
      for (const { sequence } of changes) seen.push(sequence)
    }
  })()
  return { seen, done, [Symbol.asyncDispose]: () => client.close().then(() => done) }
}

test('subscribers that are cut at random, over two gateways of which one dies, with Redis dying too, miss and repeat nothing', async () => {
  await using database = await createTestDatabase()
  await using redis = await startRedis()
  const token = 'reconnect-storm-administrator'
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    PHASELINE_TOKEN: token,
    PHASELINE_ROLES: 'gateway',
    PHASELINE_ALLOWED_HOSTS: '127.0.0.1',
    // Losing Redis is part of the test, so it is not logged.
    PHASELINE_LOG_LEVEL: 'error',
  }
  await using one = await startServer({ env, token })
  await using two = await startServer({ env, token })
  await using proxy = await startCuttingProxy([one, two].map(({ origin }) => Number(new URL(origin).port)))

  // The writer is a process of its own to the gateways: all that they share is Postgres and Redis.
  const logger = pino({ level: 'silent' })
  const signal = createRedisSignal({ url: redis.url, logger })
  const { pool } = database
  const numberer = createNumberer({ pool, signal, logger })
  const roots = await Promise.all(Array.from({ length: TREES }, () => createRoot(pool)))
  let written = 0
  let cuts = 0
  const writeSome = async (share: number): Promise<void> => {
    const end = written + CHANGES * share
    while (written < end) {
      const root = roots[(written / BATCH) % TREES] as string
      await write(pool, root, numbered(root, written, BATCH))
      numberer.committed()
      written += BATCH
      if (written % 20 > 0) continue
      // A subscriber that was cut comes back in its own time.
      await until(() => proxy.cutOne(), { what: 'somebody is connected' })
      cuts += 1
    }
  }

  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    await numberer[Symbol.asyncDispose]()
    await signal.close()
  })
  const subscribers = Array.from({ length: SUBSCRIBERS }, () => stack.use(subscribe(proxy, token)))
  await writeSome(0.1)
  await until(() => subscribers.every(({ seen }) => seen.length > 0), { what: 'everybody listens' })

  await Promise.all([writeSome(0.2), two.kill()])
  await writeSome(0.1)
  await Promise.all([writeSome(0.2), redis.restart()])
  await Promise.all([writeSome(0.2), two.start()])
  const before = proxy.served[1] ?? 0
  await writeSome(0.2)

  const expected = oneTo(CHANGES)
  await until(() => subscribers.every(({ seen }) => seen.length >= CHANGES), {
    what: 'everybody has heard everything',
  })
  for (const { seen } of subscribers) expect(seen).toEqual(expected)
  expect(cuts).toBeGreaterThan(SUBSCRIBERS)
  expect(proxy.served[1]).toBeGreaterThan(before)
})
