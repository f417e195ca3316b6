import { parseLocalTime } from '../core/date-time.ts'
import { parseDuration } from '../core/parse-duration.ts'

/** The forms that a person may give a time in. */
export const PAST_TIME_EXAMPLES = '14:05, yesterday 9:00, 2026-01-31T12:00:00Z, or how long ago: 90m, 12h, 7d'

/** A time as a person gives it, in the time zone of this machine, or a duration up to now; null: it is none. */
export function parsePastTime(text: string, now: Date): Date | null {
  const given = text.trim()
  const [, length = given] = /^-\s*(.+)$/.exec(given) ?? /^(.+?)\s+ago$/i.exec(given) ?? []
  const ago = parseDuration(length)
  // A longer duration than that means everything.
  return ago === null ? parseLocalTime(given, now) : new Date(Math.max(0, now.getTime() - ago))
}
