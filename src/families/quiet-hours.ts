import { type QuietHoursInput, WEEKDAYS, type Weekday } from '../core/date-time.ts'
import type { Problems } from '../core/problems.ts'
import { isTimeZone } from './when.ts'

/**
 * Hours in which messages, or gates, wait, by the clock of a place. Time that the clock shows twice is in a range both times; a range whose end the
 * clock skips ends there.
 */

export interface QuietRange {
  /** Days on which it begins; empty: each. */
  readonly days: readonly Weekday[]
  /** Local times such as 22:00. One that ends before it begins, or then, ends on the next day. */
  readonly from: string
  readonly to: string
}
export interface QuietHours {
  /** IANA name, e.g. Europe/Berlin. */
  readonly timeZone: string
  readonly ranges: readonly QuietRange[]
}

const MINUTE_MS = 60_000
const DAY = 24 * 60
const WEEK = 7 * DAY

/** The end of the quiet hours that a time is in; null: it is in none. */
export function quietUntil(hours: QuietHours, time: Date): Date | null {
  const isQuiet = quietMinutes(hours)
  const clock = clockOf(hours.timeZone)
  let at = Math.floor(time.getTime() / MINUTE_MS)
  if (!isQuiet[clock(at)]) return null
  // As long as the clock does not change, minutes pass there as here: it is looked up each quarter of an hour, and each minute near an end.
  const limit = at + 2 * WEEK
  while (at < limit && isQuiet[clock(at)]) at += Math.max(1, Math.min(QUARTER, quietFor(isQuiet, clock(at))))
  return new Date(at * MINUTE_MS)
}

/** Clocks change at multiples of it, and by multiples of it. */
const QUARTER = 15

/** How many of the next minutes of the week are quiet, up to a quarter of an hour, which ends where clocks may change. */
function quietFor(isQuiet: Uint8Array, minute: number): number {
  const upTo = QUARTER - (minute % QUARTER)
  let n = 0
  while (n < upTo && isQuiet[(minute + n) % WEEK]) n += 1
  return n
}

/** The minutes of a week, from Monday on: 1 in quiet hours. */
function quietMinutes({ ranges }: QuietHours): Uint8Array {
  const minutes = new Uint8Array(WEEK)
  for (const { days, from, to } of ranges)
    for (const day of days.length > 0 ? days : WEEKDAYS) {
      const start = WEEKDAYS.indexOf(day) * DAY + minuteOf(from)
      const length = (minuteOf(to) - minuteOf(from) + DAY - 1) % DAY
      for (let i = 0; i <= length; i += 1) minutes[(start + i) % WEEK] = 1
    }
  return minutes
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

/** The minute of the week at a place, for a minute since the epoch. */
function clockOf(timeZone: string): (minute: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, weekday: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  })
  return (minute) => {
    const parts = new Map(format.formatToParts(minute * MINUTE_MS).map(({ type, value }) => [type, value]))
    const day = WEEKDAYS.indexOf((parts.get('weekday') ?? '').toUpperCase() as Weekday)
    return day * DAY + Number(parts.get('hour')) * 60 + Number(parts.get('minute'))
  }
}

export function normaliseQuietHours(
  { timeZone, ranges }: QuietHoursInput,
  path: string,
  problems: Problems,
): QuietHours | null {
  const found = problems.found.length
  if (!isTimeZone(timeZone ?? 'UTC'))
    problems.add(`${path}.timeZone`, 'is no time zone: write a name such as Europe/Berlin')
  if (ranges.length === 0) problems.add(`${path}.ranges`, 'must have one at least')
  for (const [i, range] of ranges.entries())
    for (const end of ['from', 'to'] as const)
      if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(range[end]))
        problems.add(`${path}.ranges.${i}.${end}`, 'must be a time of day such as 22:00')
  if (problems.found.length > found) return null
  const read = {
    timeZone: timeZone ?? 'UTC',
    ranges: ranges.map(({ days, from, to }) => ({ days: [...new Set(days ?? [])], from, to })),
  }
  if (quietMinutes(read).every(Boolean)) problems.add(`${path}.ranges`, 'must leave some time: all would wait for ever')
  return read
}
