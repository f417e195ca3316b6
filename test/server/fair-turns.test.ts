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
    // It goes on after it has awaited something, as resolvers do.
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
  const took = { busy: 0, modest: 0 }
  const work = async (caller: { readonly isModest: boolean }, of: keyof typeof took, ms: number) => {
    await turns.next(caller)
    const begun = performance.now()
    compute(ms)
    took[of] += performance.now() - begun
  }
  const until = async (ms: number, act: () => Promise<void>) => {
    for (const end = performance.now() + ms; performance.now() < end; ) await act()
  }
  const keepBusy = (ms: number) => Promise.all(Array.from({ length: 8 }, () => until(ms, () => work(busy, 'busy', 1))))
  await Promise.all([
    keepBusy(500),
    until(500, async () => {
      await work(modest, 'modest', 0.1)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }),
  ])
  const beside = took.busy
  took.busy = 0
  await keepBusy(500)
  expect(beside).toBeLessThan(took.busy / 2)
  expect(beside).toBeGreaterThan(took.busy / 20)
})
