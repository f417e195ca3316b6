import { type FilterOf, oneOf, time, urlFilter } from './url-filter.ts'

/** The part of the time that a filter shows, as the address has it. */

export const SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const
export type Span = keyof typeof SPANS

/** Either the last span, or from and until; null and empty texts: without an end. */
export const TIME_FIELDS = {
  /** How far back from now. */
  last: oneOf('last', Object.keys(SPANS) as Span[]),
  since: time('since'),
  until: time('until'),
}
export const TIME_RANGE = urlFilter(TIME_FIELDS)
export type TimeRange = FilterOf<typeof TIME_RANGE>

/** `since` and `until` of the API. @param now milliseconds since 1970 */
export const timeInput = ({ last, since, until }: TimeRange, now: number): { since?: string; until?: string } => ({
  ...(last ? { since: new Date(now - SPANS[last]).toISOString() } : since && { since }),
  ...(until && { until }),
})

/** For a field of date and time, which has the local time and no zone. Empty: none. */
export function localTime(iso: string): string {
  if (!iso) return ''
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Parses the value of such a field. Empty: nothing, or no valid time, has been chosen. */
export function fromLocalTime(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString()
}
