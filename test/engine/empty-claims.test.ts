import { expect, test } from 'vitest'
import { EmptyClaimCache } from '../../src/engine/agents/empty-claim-cache.ts'
import { untilNextOffer } from '../../src/store/work.ts'
import { until } from '../testkit/wait.ts'
import { createWorld, DEPLOYER, item, type World } from '../testkit/world.ts'

/** Claims skip searches that cannot find anything. */

/** A claim that never searched again would get it after its wait, which is longer than a test has. */
const LONG_MS = 1_800_000

const spec = (name: string) => ({ deployItems: [item(name)], imports: [], exports: [], installations: [] })
const claim = ({ engineHost }: World, waitMs: number) =>
  engineHost.agents.claim(DEPLOYER, {
    instance: 'test',
    types: ['mock'],
    targets: null,
    max: 10,
    leaseMs: 30_000,
    waitMs,
  })
const waits = ({ engineHost }: World) => until(() => engineHost.agents.waitingClaims === 1, { what: 'the claim waits' })
const names = async (claiming: ReturnType<typeof claim>) => {
  const claimed = await claiming
  return claimed.ok ? claimed.items.map(({ name }) => name) : claimed.refusal
}

test('an agent that got all work waits for more without a search', async () => {
  await using world = await createWorld()
  const first = claim(world, LONG_MS)
  await waits(world)
  await world.create('one', spec('a'))
  expect(await names(first)).toEqual(['a'])

  const other = await world.pool.connect()
  try {
    await other.query('begin')
    await other.query('lock table work in access exclusive mode')
    const second = claim(world, LONG_MS)
    // A search would block on the lock of the table.
    await waits(world)
    await other.query('rollback')
    await world.create('two', spec('b'))
    expect(await names(second)).toEqual(['b'])
  } finally {
    // With its lock, if it still has it.
    other.release(true)
  }
})

test('what comes up without a word is found two seconds after the last look, or at once by who does not wait', async () => {
  await using world = await createWorld()
  const { pool, clock } = world
  for (const name of ['a', 'b']) await world.create(name, spec(name))
  const offerAfter = (root: string, ms: number) =>
    pool.query('update work set offer_after = $2 from object o where o.id = work.root_id and o.name = $1', [
      root,
      new Date(clock.now().getTime() + ms),
    ])
  await offerAfter('a', 500)
  await offerAfter('b', 1_500)
  expect(await names(claim(world, 1))).toEqual([])
  clock.advance(500)
  expect(await names(claim(world, 0))).toEqual(['a'])
  clock.advance(1_500)
  expect(await names(claim(world, LONG_MS))).toEqual(['b'])
})

test('work whose agent is gone is found by an agent whose last search found nothing', async () => {
  await using world = await createWorld()
  await world.create('one', spec('a'))
  expect(await world.claim()).toHaveLength(1)
  expect(await names(claim(world, 1))).toEqual([])
  const waiting = claim(world, LONG_MS)
  await waits(world)
  world.clock.advance(30_000)
  expect(await names(waiting)).toEqual(['a'])
})

test('while nothing is written, a search counts until offered work comes up by the time alone', async () => {
  await using world = await createWorld()
  const { pool, clock } = world
  const untilNext = () => untilNextOffer(pool, ['mock', 'other'], clock.now())
  expect(await untilNext()).toBeNull()
  for (const name of ['a', 'b']) await world.create(name, spec(name))
  const at = (ms: number) => new Date(clock.now().getTime() + ms)
  await pool.query('update work set offer_after = $1', [at(9_000)])
  expect(await untilNext()).toBe(9_000)
  await pool.query(
    "update work set state = 1, lease_until = $1 from object o where o.id = object_id and o.name = 'b'",
    [at(5_000)],
  )
  expect(await untilNext()).toBe(5_000)

  let isQuiet = true
  let asked = 0
  const ask = async () => {
    asked += 1
    return (await untilNext()) ?? 0
  }
  const writes = { isQuietSince: () => isQuiet, lookedAt: performance.now() + 60_000 }
  const cache = new EmptyClaimCache(2_000, writes)
  cache.remember('key', 1, clock.now())
  clock.advance(2_000)
  expect(cache.validFor('key', 1, clock.now())).toBe(0)
  const prolonged = await Promise.all([cache.prolong('key', 1, ask), cache.prolong('key', 1, ask)])
  // Until the lease ends.
  for (const ms of [...prolonged, cache.validFor('key', 1, clock.now())]) expect(Math.round(ms / 1_000)).toBe(3)
  expect(asked).toBe(1)
  // A later write is found within two seconds of the last look, like one after a search.
  writes.lookedAt = performance.now() - 1_000
  expect(Math.ceil(cache.validFor('key', 1, clock.now()) / 1_000)).toBe(1)
  writes.lookedAt = performance.now() + 60_000
  isQuiet = false
  expect([cache.validFor('key', 1, clock.now()), await cache.prolong('key', 1, ask), asked]).toEqual([0, 0, 1])
  isQuiet = true
  expect([cache.validFor('key', 2, clock.now()), await cache.prolong('key', 2, ask)]).toEqual([0, 0])
  cache.remember('failing', 2, clock.now())
  await expect(cache.prolong('failing', 2, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await cache.prolong('failing', 2, () => Promise.resolve(500))).toBeGreaterThan(0)
})

test('a search for very many targets is not remembered', () => {
  const cache = new EmptyClaimCache(2_000)
  const now = new Date()
  for (const key of ['few', 'x'.repeat(100_000)]) cache.remember(key, 1, now)
  expect(cache.validFor('few', 1, now)).toBe(2_000)
  expect(cache.validFor('x'.repeat(100_000), 1, now)).toBe(0)
})
