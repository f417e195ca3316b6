import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  betterOf,
  type ClockOffset,
  type ClockSample,
  contradicts,
  errorAt,
  following,
  offsetOf,
  SET_MS,
} from '../../src/core/clock-offset.ts'

/** Travel times of a sample, and the pause before it. */
const look = fc.record({
  there: fc.double({ min: 0, max: 500, noNaN: true }),
  back: fc.double({ min: 0, max: 500, noNaN: true }),
  pause: fc.double({ min: 1, max: 60_000, noNaN: true }),
})
/** The other clock at a time of the steady one: ahead, and a little fast or slow. */
const clock = fc.record({
  ahead: fc.double({ min: -1e9, max: 1e12, noNaN: true }),
  rate: fc.double({ min: -0.0005, max: 0.0005, noNaN: true }),
})
const ROUNDING = 0.01

function sampleOf(shows: (at: number) => number, at: number, there: number, back: number): ClockSample {
  return { sentAt: at, shown: shows(at + there), receivedAt: at + there + back }
}

describe('what another clock shows', () => {
  test('is never further from the truth than its error, which no further sample increases', () => {
    fc.assert(
      fc.property(clock, fc.array(look, { minLength: 1, maxLength: 20 }), ({ ahead, rate }, looks) => {
        const shows = (at: number) => at + ahead + rate * at
        let known: ClockOffset | null = null
        let at = 0
        for (const { there, back, pause } of looks) {
          at += pause
          const next = offsetOf(sampleOf(shows, at, there, back))
          const before: ClockOffset | null = known
          known = betterOf(before, next)
          at = next.at
          if (before) expect(errorAt(known, at)).toBeLessThanOrEqual(errorAt(before, at) + ROUNDING)
          expect(Math.abs(at + known.offset - shows(at))).toBeLessThanOrEqual(errorAt(known, at) + ROUNDING)
        }
      }),
    )
  })

  test('is estimated anew by the next sample after the clock was set or the steady clock stood still', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1_100, max: 1e9, noNaN: true }),
        fc.boolean(),
        look,
        (by, isBack, { there, back }) => {
          const set = isBack ? -by : by
          const known = betterOf(null, offsetOf(sampleOf((at) => at, 0, 1, 1)))
          const next = offsetOf(sampleOf((at) => at + set, 1_000, there, back))
          expect(contradicts(known, next)).toBe(true)
          expect(betterOf(known, next)).toBe(next)
        },
      ),
    )
  })

  test('is taken from the quickest sample until that has grown old', () => {
    const quick = offsetOf({ sentAt: 0, shown: 100.2, receivedAt: 1 })
    const slow = offsetOf({ sentAt: 1_000, shown: 1_110, receivedAt: 1_020 })
    expect(betterOf(quick, slow)).toBe(quick)
    const later = { ...slow, at: 60_000 }
    expect(betterOf(quick, later)).toBe(later)
  })
})

test('a time does not go back for the sake of a better measurement, but does when the clock was set back', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: -10_000, max: 10_000 }), (last, by) => {
      const next = following(last, last + by)
      expect(next).toBe(by < 0 && by > -SET_MS ? last : last + by)
    }),
  )
})
