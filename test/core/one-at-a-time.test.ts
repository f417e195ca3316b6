import { expect, test } from 'vitest'
import { OneAtATime } from '../../src/core/one-at-a-time.ts'

test('work runs one after the other, in its order, also after a failure', async () => {
  const lane = new OneAtATime()
  const order: string[] = []
  const work = (name: string) => async () => {
    order.push(`${name} begins`)
    await Promise.resolve()
    order.push(`${name} ends`)
    if (name === 'a') throw new Error('a fails')
  }
  const all = await Promise.allSettled(['a', 'b', 'c'].map((name) => lane.run(work(name))))
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  await lane.run(work('d'))
  expect(order).toEqual(['a', 'b', 'c', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]))
})
