import { expect, test } from 'vitest'
import { Pace } from '../../web-playground/src/data/pace.ts'

test('what takes long is asked for less often, and at once where somebody waits for it', async () => {
  let now = 1_000
  const pace = new Pace(() => now)
  const takes = (ms: number) => pace.ask(async () => (now += ms))
  expect(pace.delay(0)).toBe(0)
  await takes(10)
  expect(pace.delay(0)).toBe(40)
  expect(pace.delay(700)).toBe(700)
  await takes(1_000)
  expect(pace.delay(700)).toBe(4_000)
  now += 3_000
  expect(pace.delay(0)).toBe(1_000)
  now += 2_000
  expect(pace.delay(0)).toBe(0)
  // One that fails has cost as much.
  await expect(
    pace.ask(async () => {
      now += 500
      throw new Error('no answer')
    }),
  ).rejects.toThrow('no answer')
  expect(pace.delay(0)).toBe(2_000)
  await takes(60_000)
  expect(pace.delay(0)).toBe(30_000)
  pace.hurry()
  expect(pace.delay(0)).toBe(0)
})
