import { expect, test } from 'vitest'
import { AutoResetEvent } from '../../src/client/agent/auto-reset-event.ts'
import { ageOf, instant, later } from '../../src/client/agent/instant.ts'
import { pause } from '../../src/client/pause.ts'

const at = (monotonic: number, uptime: number) => ({ monotonic, uptime })

test("the machine's sleep counts, and the error of a coarse clock does not", () => {
  const then = at(5_000, 90_000)
  expect(ageOf(then, at(6_000, 91_000))).toBe(1_000)
  expect(ageOf(then, at(6_000, 91_999))).toBe(1_000)
  expect(ageOf(then, at(6_000, 90_000))).toBe(1_000)
  expect(ageOf(then, at(6_000, 691_000))).toBe(601_000)
  expect(ageOf(later(then, 400), at(6_000, 691_000))).toBe(600_600)
})

test('an instant is now, by clocks that go', async () => {
  const [began, then] = [performance.now(), instant()]
  await new Promise((resolve) => setTimeout(resolve, 20))
  const age = ageOf(then, instant())
  expect(age).toBeGreaterThanOrEqual(19)
  // The clock of the machine is coarse.
  expect(age).toBeLessThan(performance.now() - began + 1_000)
})

test('a time that has passed while it was computed is waited for without a warning', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', note)
  try {
    await pause(-0.5)
    await new AutoResetEvent().wait(-0.5, new AbortController().signal)
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', note)
  }
})
