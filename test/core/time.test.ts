import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoffMs } from '../../src/core/backoff.ts'
import { expiresAt, isDue } from '../../src/core/deadline.ts'
import { clampLeaseMs, isExpired, leaseFrom } from '../../src/core/lease.ts'

const moment = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

describe('a deadline', () => {
  test('fires at the limit, and not a millisecond before', () => {
    fc.assert(
      fc.property(moment, fc.nat(10 ** 10), (since, ms) => {
        const limit = expiresAt(since, { ms })
        expect(isDue(limit, later(since, ms - 1))).toBe(false)
        expect(isDue(limit, later(since, ms))).toBe(true)
        expect(isDue(limit, later(since, ms + 1))).toBe(true)
      }),
    )
  })

  test('of never does not fire', () => {
    expect(expiresAt(new Date(0), { never: true })).toBeNull()
    expect(isDue(null, new Date('2100-01-01'))).toBe(false)
  })
})

describe('a backoff', () => {
  const options = fc.record({
    baseMs: fc.integer({ min: 2, max: 5_000 }),
    capMs: fc.integer({ min: 5_000, max: 10 ** 6 }),
    factor: fc.integer({ min: 1, max: 4 }),
  })
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

  test('stays between half and all of the full delay, whole and finite after any number of failures', () => {
    fc.assert(
      fc.property(fc.nat(5_000), random, options, (failures, at, given) => {
        const full = Math.min(given.capMs, given.baseMs * given.factor ** Math.max(0, failures - 1))
        const ms = backoffMs(failures, at, given)
        expect(Number.isSafeInteger(ms)).toBe(true)
        expect(ms).toBeGreaterThanOrEqual(Math.floor(full / 2))
        expect(ms).toBeLessThanOrEqual(Math.ceil(full))
      }),
    )
  })

  test('doubles until the cap, and the jitter uses the whole range', () => {
    const at = (random: number) =>
      [1, 2, 3, 4, 50].map((failures) => backoffMs(failures, random, { baseMs: 100, capMs: 700, factor: 2 }))
    expect(at(0)).toEqual([50, 100, 200, 350, 350])
    expect(at(1)).toEqual([100, 200, 400, 700, 700])
  })
})

describe('a lease', () => {
  test('is expired at exactly its end, and a missing one is expired', () => {
    const now = new Date('2026-11-21T10:00:00.000Z')
    const until = leaseFrom(now, 30_000)
    expect(isExpired(until, later(now, 29_999))).toBe(false)
    expect(isExpired(until, later(now, 30_000))).toBe(true)
    expect(isExpired(null, now)).toBe(true)
  })

  test('is never shorter than a second nor longer than ten minutes', () => {
    expect([-5, 0, 999, 1_000, 30_000, 600_000, 600_001].map(clampLeaseMs)).toEqual([
      1_000, 1_000, 1_000, 1_000, 30_000, 600_000, 600_000,
    ])
  })
})
