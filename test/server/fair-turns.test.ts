import { expect, test } from 'vitest'
import { FairTurns } from '../../src/server/fair-turns.ts'

const compute = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('a caller with little to do does not wait for one with much', async () => {
  const turns = new FairTurns()
  const order: string[] = []
  const work = async (caller: object, name: string) => {
    await turns.next(caller)
    // It goes on after it has awaited something, as resolvers do.
    await Promise.resolve()
    compute(2)
    order.push(name)
  }
  const [busy, modest] = [{}, {}]
  const all = Array.from({ length: 50 }, () => work(busy, 'busy'))
  all.push(work(modest, 'modest'), work(modest, 'modest'))
  await Promise.all(all)
  expect(order).toHaveLength(52)
  // The first few begin before anybody waits.
  expect(order.indexOf('modest')).toBeLessThan(12)
  expect(order.lastIndexOf('modest')).toBeLessThan(14)
})

test('the event loop turns between pieces of work', async () => {
  const turns = new FairTurns()
  const caller = {}
  let done = 0
  const all = Promise.all(
    Array.from({ length: 50 }, async () => {
      await turns.next(caller)
      compute(2)
      done += 1
    }),
  )
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(done).toBeLessThan(25)
  await all
  expect(done).toBe(50)
})

test('without others, work begins at once', () => {
  const turns = new FairTurns()
  expect(turns.next({})).toBeUndefined()
})
