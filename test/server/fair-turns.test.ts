import { expect, test } from 'vitest'
import { FairTurns, type Share, type TurnTaker } from '../../src/server/limits/fair-turns.ts'

const compute = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const shareOf = (share: Partial<Share> = {}): Share => ({
  ...{ isModest: false, isWorking: true, answeredAt: Number.NEGATIVE_INFINITY },
  ...share,
})
/** One that is alone in its share. */
const callerOf = (share: Partial<Share>): TurnTaker => ({ isModest: share.isModest ?? false, share: shareOf(share) })

test('a caller with little to do does not wait for one with much', async () => {
  const turns = new FairTurns()
  const order: string[] = []
  const work = async (caller: TurnTaker, name: string) => {
    await turns.next(caller)
    // The work continues after an await, as resolvers do.
    await Promise.resolve()
    compute(2)
    order.push(name)
  }
  const [busy, modest] = [callerOf({}), callerOf({ isModest: true })]
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
  const caller = callerOf({})
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
  expect(turns.next(callerOf({ isModest: true }))).toBeUndefined()
})

/** The part of its pieces that somebody busy gets done beside others: 1 is all that it does alone. */
async function partBeside(
  besides: (turns: FairTurns, until: (ms: number, act: () => Promise<void>) => Promise<void>) => Promise<unknown>,
  { busy = callerOf({}), ms = 1 }: { readonly busy?: TurnTaker; readonly ms?: number } = {},
) {
  const until = async (ms: number, act: () => Promise<void>) => {
    for (const end = performance.now() + ms; performance.now() < end; ) await act()
  }
  const keepBusy = async (turns: FairTurns): Promise<number> => {
    let pieces = 0
    const work = async () => {
      await turns.next(busy)
      compute(ms)
      pieces += 1
    }
    await Promise.all(Array.from({ length: 8 }, () => until(MEASURED_MS, work)))
    return pieces
  }
  const turns = new FairTurns()
  const [beside] = await Promise.all([keepBusy(turns), besides(turns, until)])
  return beside / (await keepBusy(turns))
}
const MEASURED_MS = 300
/** Pauses of this process spoil some: more are taken until their median is as it shall be. */
async function expectPart(measure: () => Promise<number>, isRight: (part: number) => boolean): Promise<void> {
  const parts: number[] = []
  const median = () => parts.toSorted((a, b) => a - b)[Math.floor(parts.length / 2)] ?? Number.NaN
  while (parts.length < 15 && !(parts.length >= 3 && isRight(median()))) parts.push(await measure())
  expect(isRight(median()), `${parts}`).toBe(true)
}
const beModest =
  (caller: TurnTaker): Parameters<typeof partBeside>[0] =>
  (turns, until) =>
    until(MEASURED_MS, async () => {
      await turns.next(caller)
      compute(0.1)
      await new Promise((resolve) => setTimeout(resolve, 1))
    })

test('who takes more than its part rests while somebody else works', async () => {
  const measure = () => partBeside(beModest(callerOf({ isModest: true })))
  await expectPart(measure, (part) => part < 1 / 2 && part > 1 / 20)
})

test('who is not modest rests with short pieces, too, although the share as a whole is modest', async () => {
  const busy = { isModest: false, share: shareOf({ isModest: true }) }
  const measure = () => partBeside(beModest(callerOf({ isModest: true })), { busy, ms: 0.3 })
  await expectPart(measure, (part) => part < 1 / 2)
})

test('who takes more than its part rests also between two requests of somebody else', async () => {
  const share = { isModest: true, isWorking: false, answeredAt: 0 }
  const measure = () =>
    partBeside((turns, until) =>
      until(MEASURED_MS, async () => {
        await turns.next({ isModest: true, share })
        compute(0.1)
        share.answeredAt = performance.now()
        await new Promise((resolve) => setTimeout(resolve, 1))
      }),
    )
  await expectPart(measure, (part) => part < 2 / 3)
})

test('sixty tiny requests a second make nobody rest to speak of', async () => {
  const share = { isModest: true, isWorking: false, answeredAt: 0 }
  const measure = () =>
    partBeside((turns, until) =>
      until(MEASURED_MS, async () => {
        await turns.next({ isModest: true, share })
        share.answeredAt = performance.now()
        await new Promise((resolve) => setTimeout(resolve, 16))
      }),
    )
  await expectPart(measure, (part) => part > 1 / 2)
})

test('nobody rests for strangers, who work on nothing', async () => {
  const measure = () => partBeside(beModest(callerOf({ isModest: true, isWorking: false })))
  await expectPart(measure, (part) => part > 2 / 3)
})

test('nobody rests for work that has begun long ago, such as a claim that waits', async () => {
  const waiting = callerOf({ isModest: true })
  const measure = () => partBeside(async (turns) => await turns.next(waiting))
  await expectPart(measure, (part) => part > 2 / 3)
})

test('two that are busy do not rest for each other', async () => {
  const other = callerOf({})
  const measure = () =>
    partBeside((turns, until) =>
      until(MEASURED_MS, async () => {
        await turns.next(other)
        compute(1)
      }),
    )
  await expectPart(measure, (part) => part > 1 / 3)
})

test('many callers of one share have together as many turns as another one', async () => {
  const turns = new FairTurns()
  const share = shareOf()
  const others = Array.from({ length: 50 }, (): TurnTaker => ({ isModest: false, share }))
  const alone = callerOf({ isModest: true })
  const order: string[] = []
  const work = async (caller: TurnTaker, name: string) => {
    await turns.next(caller)
    compute(0.5)
    order.push(name)
  }
  await Promise.all([
    ...others.flatMap((one) => [work(one, 'others'), work(one, 'others')]),
    ...Array.from({ length: 5 }, () => work(alone, 'alone')),
  ])
  // The first few begin before anybody waits, and a slice has eight.
  expect(order.lastIndexOf('alone')).toBeLessThan(30)
  expect(order).toHaveLength(105)
})

test('within a share one caller does not wait for another with much', async () => {
  const turns = new FairTurns()
  const share = shareOf()
  const [busy, modest] = [
    { isModest: false, share },
    { isModest: false, share },
  ]
  const order: string[] = []
  const work = async (caller: TurnTaker, name: string) => {
    await turns.next(caller)
    compute(0.5)
    order.push(name)
  }
  await Promise.all([...Array.from({ length: 50 }, () => work(busy, 'busy')), work(modest, 'modest')])
  expect(order.indexOf('modest')).toBeLessThan(12)
})
