/** As the API has them, from the first on. */
export const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** Hours of days by the clock of a place, as people write them. */
export interface QuietHoursInput {
  readonly timeZone?: string | null
  readonly ranges: readonly { readonly days?: readonly Weekday[] | null; readonly from: string; readonly to: string }[]
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,32})?)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * A time of RFC 3339, with or without its seconds. Null: the text is none. One without an offset would be in the time zone
 * of whoever reads it, and Date makes another day of one that does not exist.
 */
export function parseDateTime(text: string): Date | null {
  const [, year, month, day] = DATE_TIME.exec(text) ?? []
  if (year === undefined || !isDay(Number(year), Number(month), Number(day))) return null
  const time = new Date(text.toUpperCase())
  return Number.isNaN(time.getTime()) ? null : time
}

const LOCAL = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,32})?)?))?$/

const TIME_OF_DAY = /^(\d{1,2}):(\d\d)$/
const NAMED_DAY = /^(today|yesterday)(?: +(\d{1,2}:\d\d))?$/i

/**
 * A time of a person at this machine: without an offset it is in its time zone, and without a time of day its midnight. A time of day
 * alone is its last one; `today` or `yesterday` may be before it.
 */
export function parseLocalTime(text: string, now: Date): Date | null {
  const [, day, clock = '0:00'] = NAMED_DAY.exec(text) ?? []
  if (day !== undefined) return timeOfDay(clock, now, day.toLowerCase() === 'yesterday' ? -1 : 0)
  const last = timeOfDay(text, now, 0)
  if (last) return last > now ? timeOfDay(text, now, -1) : last
  const [, date, time = '00:00'] = LOCAL.exec(text) ?? []
  if (date === undefined) return parseDateTime(text)
  return parseDateTime(`${date}T${time}Z`) && new Date(`${date}T${time}`)
}

/** Null: the text is no time of day. */
function timeOfDay(text: string, now: Date, days: -1 | 0): Date | null {
  const [, hours, minutes] = TIME_OF_DAY.exec(text) ?? []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return null
  const time = new Date(now)
  time.setDate(time.getDate() + days)
  time.setHours(Number(hours), Number(minutes), 0, 0)
  return time
}

/** True if the calendar has the day. */
function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, 0, 1))
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

export const DATE_TIME_RULE = 'a time with its offset, such as 2026-11-21T09:00:00Z or 2026-11-21T10:00:00+01:00'
