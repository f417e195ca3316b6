/** As the API has them, from the first on. */
export const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
export type Weekday = (typeof WEEKDAYS)[number]

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

const TIME_OF_DAY = /^(\d\d):(\d\d)$/

/**
 * A time of a person at this machine: without an offset it is in its time zone, and without a time of day its midnight. A time of day
 * alone is its last one.
 */
export function parseLocalTime(text: string, now: Date): Date | null {
  const [, hours, minutes] = TIME_OF_DAY.exec(text) ?? []
  if (hours !== undefined && minutes !== undefined) return lastTimeOfDay(Number(hours), Number(minutes), now)
  const [, date, time = '00:00'] = LOCAL.exec(text) ?? []
  if (date === undefined) return parseDateTime(text)
  return parseDateTime(`${date}T${time}Z`) && new Date(`${date}T${time}`)
}

function lastTimeOfDay(hours: number, minutes: number, now: Date): Date | null {
  if (hours > 23 || minutes > 59) return null
  const time = new Date(now)
  time.setHours(hours, minutes, 0, 0)
  if (time > now) time.setDate(time.getDate() - 1)
  return time
}

/** True if the calendar has the day. */
function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, 0, 1))
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

export const DATE_TIME_RULE = 'a time with its offset, such as 2026-11-21T09:00:00Z or 2026-11-21T10:00:00+01:00'
