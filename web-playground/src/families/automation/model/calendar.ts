import { type FilterOf, oneOf, text, urlFilter } from '../../../model/url-filter.ts'

/** A calendar of schedules. Days are texts such as `2026-01-31`, of the time zone that is shown. */

export const VIEWS = ['month', 'week'] as const
export type View = (typeof VIEWS)[number]

const day = (name: string) => ({
  name,
  read: (value: string): string => (/^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : ''),
  write: (value: string): string => value,
})
/** The filter of the page. Empty: all schedules, today, the time zone of the viewer. */
export const CALENDAR_FILTER = urlFilter({
  project: text('project'),
  id: text('id', 64),
  view: oneOf('view', VIEWS),
  day: day('day'),
  zone: text('zone'),
})
export type CalendarFilter = FilterOf<typeof CALENDAR_FILTER>

const DAY_MS = 86_400_000
const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const plus = (date: string, days: number): string => dayText(Date.parse(date) + days * DAY_MS)

/** Weeks from Monday on; a month begins and ends with whole ones. */
export function daysShown(view: View, date: string): readonly string[] {
  const monday = (of: string): string => plus(of, -((new Date(Date.parse(of)).getUTCDay() + 6) % 7))
  if (view === 'week') return Array.from({ length: 7 }, (_, i) => plus(monday(date), i))
  const first = monday(`${date.slice(0, 7)}-01`)
  const weeks = [0, 1, 2, 3, 4, 5].filter(
    (week) => week === 0 || plus(first, week * 7).slice(0, 7) === date.slice(0, 7),
  )
  return weeks.flatMap((week) => Array.from({ length: 7 }, (_, i) => plus(first, week * 7 + i)))
}

/** The same day of the next or the previous week, or the first of that month. */
export function turned(view: View, date: string, by: 1 | -1): string {
  if (view === 'week') return plus(date, by * 7)
  const [year = 0, month = 1] = date.split('-').map(Number)
  return dayText(Date.UTC(year, month - 1 + by, 1))
}

/** A stretch of time that has all of these days, whatever the time zone. */
export const stretchOf = (days: readonly string[]): { readonly from: string; readonly until: string } => ({
  from: new Date(Date.parse(days[0] ?? '') - DAY_MS).toISOString(),
  until: new Date(Date.parse(days.at(-1) ?? '') + 2 * DAY_MS).toISOString(),
})

export interface Counts {
  readonly fired: number
  readonly skipped: number
  readonly refused: number
  readonly waiting: number
}
export interface Timed {
  readonly id: string
  readonly name: string
  readonly days: readonly (Counts & { readonly date: string })[]
  readonly nextTimes: readonly string[]
}
/** A schedule on one day: its firings so far, and its next times. */
export interface Entry extends Counts {
  readonly id: string
  readonly name: string
  /** Times of day. */
  readonly next: readonly string[]
}

/** Days and times of day in a time zone. */
export interface Clocks {
  dayOf(at: Date): string
  clockOf(at: Date): string
}

/**
 * The entries of each day.
 * @param asked the length at which a list of next times ends: one of that length has more
 */
export function entriesByDay(
  schedules: readonly Timed[],
  { dayOf, clockOf }: Clocks,
  asked: number,
): { readonly entries: ReadonlyMap<string, readonly Entry[]>; readonly openFrom: string | null } {
  const found = new Map<string, Entry[]>()
  let openFrom: string | null = null
  for (const { id, name, days, nextTimes } of schedules) {
    const next = Map.groupBy(nextTimes, (at) => dayOf(new Date(at)))
    const past = new Map(days.map(({ date, ...counts }) => [date, counts]))
    for (const date of new Set([...past.keys(), ...next.keys()])) {
      const times = (next.get(date) ?? []).map((at) => clockOf(new Date(at)))
      found.set(date, [...(found.get(date) ?? []), { id, name, ...(past.get(date) ?? NONE), next: times }])
    }
    const last = nextTimes.at(-1)
    if (last === undefined || nextTimes.length < asked) continue
    const end = dayOf(new Date(last))
    if (openFrom === null || end < openFrom) openFrom = end
  }
  return { entries: found, openFrom }
}
const NONE: Counts = { fired: 0, skipped: 0, refused: 0, waiting: 0 }

export const summed = (entries: readonly Counts[]): Counts => ({
  fired: entries.reduce((sum, { fired }) => sum + fired, 0),
  skipped: entries.reduce((sum, { skipped }) => sum + skipped, 0),
  refused: entries.reduce((sum, { refused }) => sum + refused, 0),
  waiting: entries.reduce((sum, { waiting }) => sum + waiting, 0),
})
