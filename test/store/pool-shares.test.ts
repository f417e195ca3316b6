import { expect, test } from 'vitest'
import { LiveReads } from '../../src/server/limits/live-reads.ts'
import { PoolShares } from '../../src/store/pool-shares.ts'

/** Takes connections until one has to be waited for. */
function takeAll(shares: PoolShares, caller: string): number {
  for (let taken = 0; ; taken++) if (shares.take(caller)) return taken
}

test('one caller leaves some connections for others', async () => {
  const shares = new PoolShares(8)
  expect(takeAll(shares, 'ada')).toBe(6)
  expect(shares.take('bob')).toBeUndefined()
  expect(takeAll(shares, 'eve')).toBeGreaterThan(0)
})

test('a pool of one connection is used', () => {
  const shares = new PoolShares(1)
  expect(shares.take('ada')).toBeUndefined()
  expect(shares.take('ada')).toBeDefined()
})

test('who waits has a turn after each other one, however much any of them asks for', async () => {
  const shares = new PoolShares(1)
  const order: string[] = []
  void shares.take('ada')
  const wait = (caller: string) => shares.take(caller)?.then(() => order.push(caller))
  const waiting = ['ada', 'ada', 'ada', 'bob', 'bob', 'eve'].map(wait)
  for (const caller of ['ada', 'ada', 'bob', 'eve', 'ada', 'bob', 'ada']) {
    shares.giveBack(caller)
    await Promise.resolve()
  }
  await Promise.all(waiting)
  expect(order).toEqual(['ada', 'bob', 'eve', 'ada', 'bob', 'ada'])
  expect(shares.take('eve')).toBeUndefined()
})

test('callers of one share have together as many turns as another one', async () => {
  const shares = new PoolShares(1)
  const order: string[] = []
  void shares.take('project one')
  const waiting = ['project two', 'project three', 'project four', 'bob'].map((caller) =>
    shares.take(caller)?.then(() => order.push(caller)),
  )
  for (const caller of ['project one', 'project two', 'bob', 'project three']) {
    shares.giveBack(caller)
    await Promise.resolve()
  }
  await Promise.all(waiting)
  expect(order).toEqual(['project two', 'bob', 'project three', 'project four'])
})

test('live reads of a caller run one at a time, and rest while others read', async () => {
  const reads = new LiveReads('ada')
  let running = 0
  const began: number[] = []
  const run = async () => {
    running += 1
    began.push(performance.now())
    expect(running).toBe(1)
    while (performance.now() - (began.at(-1) as number) < 20) await new Promise(setImmediate)
    running -= 1
  }
  const all = (mustRest: boolean) =>
    Promise.all(
      [1, 2, 3].map(() =>
        reads.read(
          run,
          () => mustRest,
          () => undefined,
        ),
      ),
    )
  await all(true)
  const [first = 0, , third = 0] = began
  expect(third - first).toBeGreaterThanOrEqual(75)
})
