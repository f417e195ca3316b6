import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDateTime, parseLocalTime } from '../../src/core/date-time.ts'

test.each([
  ['2026-11-26T11:38:49Z', '2026-11-26T11:38:49.000Z'],
  ['2026-11-26t11:38:49.123456z', '2026-11-26T11:38:49.123Z'],
  ['2026-11-26T11:38+05:30', '2026-11-26T06:08:00.000Z'],
  ['2024-02-29T00:00:00-00:00', '2024-02-29T00:00:00.000Z'],
])('%s is a time', (text, expected) => {
  expect(parseDateTime(text)?.toISOString()).toBe(expected)
})

test.each([
  '2026-11-26T11:38:49',
  '2026-11-26',
  '2026-02-31T00:00:00Z',
  '2025-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T23:60:00Z',
  '2026-01-31T23:59:60Z',
  '2026-01-31T23:59:59+24:00',
  '2026-01-31T23:59:59+0100',
  '2026-01-31 23:59:59Z',
  '1',
  '',
])('%s is none', (text) => {
  expect(parseDateTime(text)).toBeNull()
})

test('every time is read back, in whatever zone it is written', () => {
  const times = fc.date({
    min: new Date('0001-01-02T00:00:00Z'),
    max: new Date('9999-12-30T00:00:00Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(times, fc.integer({ min: -1_439, max: 1_439 }), (time, offset) => {
      const there = new Date(time.getTime() + offset * 60_000).toISOString().slice(0, -1)
      const two = (part: number) => String(Math.floor(Math.abs(part))).padStart(2, '0')
      const zone = `${offset < 0 ? '-' : '+'}${two(offset / 60)}:${two(Math.abs(offset) % 60)}`
      expect(parseDateTime(`${there}${zone}`)).toEqual(time)
    }),
  )
})

test('a person at this machine may leave the offset and the time of day out', () => {
  const now = new Date(2026, 10, 20, 14, 5, 30)
  expect(parseLocalTime('2026-11-20', now)).toEqual(new Date(2026, 10, 20))
  expect(parseLocalTime('2026-11-20 07:30', now)).toEqual(new Date(2026, 10, 20, 7, 30))
  expect(parseLocalTime('14:05', now)).toEqual(new Date(2026, 10, 20, 14, 5))
  expect(parseLocalTime('14:06', now)).toEqual(new Date(2026, 10, 19, 14, 6))
  expect(parseLocalTime('9:00', now)).toEqual(new Date(2026, 10, 20, 9))
  expect(parseLocalTime('yesterday 9:00', now)).toEqual(new Date(2026, 10, 19, 9))
  expect(parseLocalTime('Yesterday', now)).toEqual(new Date(2026, 10, 19))
  expect(parseLocalTime('today 23:30', now)).toEqual(new Date(2026, 10, 20, 23, 30))
  expect(parseLocalTime('2026-11-20T07:30:15Z', now)?.toISOString()).toBe('2026-11-20T07:30:15.000Z')
  for (const wrong of ['2026-02-31', '2026-11-20T24:00', '12', '24:00', '1:5', 'yesterday 24:00', 'tomorrow', ''])
    expect(parseLocalTime(wrong, now)).toBeNull()
})
