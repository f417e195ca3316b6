import { expect, test } from 'vitest'
import { FairTurns } from '../../src/server/limits/fair-turns.ts'

const compute = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('a caller with little to do does not wait for one with much', async () => {
  const turns = new FairTurns()
  const order: string[] = []
  const work = async (caller: { readonly isModest: boolean }, name: string) => {
    await turns.next(caller)
    // The work continues after an await, as resolvers do.
    await Promise.resolve()
    compute(2)
    order.push(name)
  }
  const [busy, modest] = [{ isModest: false }, { isModest: true }]
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
  const caller = { isModest: false }
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
  expect(turns.next({ isModest: true })).toBeUndefined()
})

test('whoever takes more than its share rests while others are active, and only then', async () => {
  const turns = new FairTurns()
  const [busy, modest] = [{ isModest: false }, { isModest: true }]
  let pieces = 0
  const work = async (caller: { readonly isModest: boolean }, ms: number) => {
    await turns.next(caller)
    compute(ms)
    if (caller === busy) pieces += 1
  }
  const until = async (ms: number, act: () => Promise<void>) => {
    for (const end = performance.now() + ms; performance.now() < end; ) await act()
  }
  /** How many pieces of work the busy one gets done. */
  const keepBusy = async (ms: number): Promise<number> => {
    pieces = 0
    await Promise.all(Array.from({ length: 8 }, () => until(ms, () => work(busy, 1))))
    return pieces
  }
  const beModest = (ms: number) =>
    until(ms, async () => {
      await work(modest, 0.1)
      await new Promise((resolve) => setTimeout(resolve, 1))
    })
  // Pauses of this process spoil some: more are taken until most of them are none such.
  const shares: number[] = []
  const median = () => shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 1
  const isFair = () => shares.length >= 3 && median() < 1 / 2 && median() > 1 / 20
  while (!isFair() && shares.length < 15) {
    const [beside] = await Promise.all([keepBusy(500), beModest(500)])
    shares.push(beside / (await keepBusy(500)))
  }
  expect(isFair(), `${shares}`).toBe(true)
})
