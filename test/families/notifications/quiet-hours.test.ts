import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type QuietHoursInput, WEEKDAYS } from '../../../src/core/date-time.ts'
import { Problems } from '../../../src/core/problems.ts'
import { collect, MAX_DIGEST, MAX_DIGEST_LENGTH } from '../../../src/families/notifications/rules/collect.ts'
import type { ToldChange } from '../../../src/families/notifications/rules/spec.ts'
import { normaliseQuietHours, type QuietHours, quietUntil } from '../../../src/families/quiet-hours.ts'

const read = (input: QuietHoursInput): QuietHours => {
  const problems = new Problems()
  const hours = normaliseQuietHours(input, 'quietHours', problems)
  if (!hours || problems.found.length > 0) throw new Error(JSON.stringify(problems.found))
  return hours
}
const until = (input: QuietHoursInput, time: string): string | null =>
  quietUntil(read(input), new Date(time))?.toISOString() ?? null

const BERLIN = 'Europe/Berlin'
const night = { timeZone: BERLIN, ranges: [{ from: '22:00', to: '07:00' }] }

test.for([
  ['before the night', night, '2026-11-28T20:59:59Z', null],
  ['as it begins', night, '2026-11-28T21:00:00Z', '2026-11-29T06:00:00.000Z'],
  ['after midnight', night, '2026-11-29T05:59:59.999Z', '2026-11-29T06:00:00.000Z'],
  ['as it ends', night, '2026-11-29T06:00:00Z', null],
  ['in summer', night, '2026-07-01T20:30:00Z', '2026-07-02T05:00:00.000Z'],
  ['a night that is an hour shorter', night, '2026-03-28T21:00:00Z', '2026-03-29T05:00:00.000Z'],
  ['a night that is an hour longer', night, '2026-10-24T20:00:00Z', '2026-10-25T06:00:00.000Z'],
] as const)('%s', ([, hours, time, end]) => {
  expect(until(hours, time)).toBe(end)
})

test('an end that the clock leaves out is when the clock goes on; an hour that it has twice is quiet twice', () => {
  const early = { timeZone: BERLIN, ranges: [{ from: '22:00', to: '02:30' }] }
  expect(until(early, '2026-03-28T23:00:00Z')).toBe('2026-03-29T01:00:00.000Z')
  const twice = { timeZone: BERLIN, ranges: [{ from: '02:00', to: '02:30' }] }
  expect(until(twice, '2026-03-29T00:59:00Z')).toBe(null)
  expect(until(twice, '2026-03-29T01:00:00Z')).toBe(null)
  expect(until(twice, '2026-10-25T00:10:00Z')).toBe('2026-10-25T00:30:00.000Z')
  expect(until(twice, '2026-10-25T00:40:00Z')).toBe(null)
  expect(until(twice, '2026-10-25T01:10:00Z')).toBe('2026-10-25T01:30:00.000Z')
})

test('ranges that follow each other are one', () => {
  const ranges = [
    { days: ['SATURDAY', 'SUNDAY'] as const, from: '00:00', to: '00:00' },
    { from: '22:00', to: '07:00' },
  ]
  expect(until({ timeZone: BERLIN, ranges }, '2026-11-27T22:00:00Z')).toBe('2026-11-30T06:00:00.000Z')
  expect(until({ timeZone: BERLIN, ranges }, '2026-11-27T20:00:00Z')).toBe(null)
})

test('what cannot be is refused', () => {
  const problemsOf = (input: QuietHoursInput) => {
    const problems = new Problems()
    normaliseQuietHours(input, 'q', problems)
    return problems.found.map(({ path }) => path)
  }
  expect(problemsOf({ timeZone: 'Europe/Nowhere', ranges: [] })).toEqual(['q.timeZone', 'q.ranges'])
  expect(problemsOf({ ranges: [{ from: '24:00', to: '7:00' }] })).toEqual(['q.ranges.0.from', 'q.ranges.0.to'])
  expect(problemsOf({ ranges: [{ from: '08:00', to: '08:00' }] })).toEqual(['q.ranges'])
  expect(
    problemsOf({
      ranges: [
        { from: '00:00', to: '12:00' },
        { from: '12:00', to: '00:00' },
      ],
    }),
  ).toEqual(['q.ranges'])
})

const clocks = new Map<string, Intl.DateTimeFormat>()
/** The model: what a person reads on the clock. */
function isQuiet({ timeZone, ranges }: QuietHours, time: Date): boolean {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      timeStyle: undefined,
      hour: '2-digit',
      minute: '2-digit',
    })
  clocks.set(timeZone, clock)
  const [weekday = '', now = ''] = clock.format(time).split(/,? (?:at )?(?=\d)/)
  const today = (WEEKDAYS as readonly string[]).indexOf(weekday.toUpperCase())
  const isOn = (days: readonly string[], day: number) =>
    days.length === 0 || days.includes(WEEKDAYS[(day + 7) % 7] ?? '')
  return ranges.some(({ days, from, to }) =>
    from < to
      ? isOn(days, today) && now >= from && now < to
      : (isOn(days, today) && now >= from) || (isOn(days, today - 1) && now < to),
  )
}
const at = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
const hours = fc.record({
  timeZone: fc.constantFrom(
    BERLIN,
    'America/New_York',
    'Australia/Lord_Howe',
    'America/St_Johns',
    'Asia/Kathmandu',
    'UTC',
  ),
  ranges: fc.array(fc.record({ days: fc.subarray([...WEEKDAYS]), from: at, to: at }), { minLength: 1, maxLength: 3 }),
})
/** Clocks change in these hours. */
const times = fc
  .tuple(
    fc.constantFrom(
      '2026-03-29T01:00Z',
      '2026-10-25T01:00Z',
      '2026-03-08T07:00Z',
      '2026-11-01T06:00Z',
      '2026-04-04T15:00Z',
      '2026-10-03T15:30Z',
      '2026-06-01T00:00Z',
    ),
    fc.integer({ min: -26 * 60, max: 26 * 60 }),
  )
  .map(([change, minutes]) => new Date(Date.parse(change) + minutes * 60_000))

test('a message waits for the first minute that the clock has outside of quiet hours', () => {
  fc.assert(
    fc.property(hours, times, (input, time) => {
      const problems = new Problems()
      const quiet = normaliseQuietHours(input, 'q', problems)
      fc.pre(quiet !== null && problems.found.length === 0)
      let expected = time.getTime()
      while (isQuiet(quiet, new Date(expected))) expected += 60_000
      expect(quietUntil(quiet, time)?.getTime() ?? time.getTime()).toBe(expected)
    }),
    { numRuns: 300 },
  )
})

test('a digest tells the first changes in their order, and counts the others', () => {
  const change = (sequence: number, message = '') => ({ sequence, message }) as ToldChange
  const empty = { type: 'DIGEST' as const, changes: [], count: 0, lastSequence: 0 }
  const some = collect(empty, [change(1), change(2)])
  expect(some).toEqual({ type: 'DIGEST', changes: [change(1), change(2)], count: 2, lastSequence: 2 })
  const full = collect(
    some,
    Array.from({ length: 2 * MAX_DIGEST }, (_, i) => change(i + 3)),
  )
  expect([full.changes.length, full.count, full.lastSequence]).toEqual([
    MAX_DIGEST,
    2 * MAX_DIGEST + 2,
    2 * MAX_DIGEST + 2,
  ])
  const long = collect(empty, [change(1), change(2, 'x'.repeat(MAX_DIGEST_LENGTH)), change(3)])
  expect([long.changes.map(({ sequence }) => sequence), long.count]).toEqual([[1], 3])
  expect(collect(long, [change(4)]).changes.length).toBe(1)
})
