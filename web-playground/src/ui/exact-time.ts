/** Times are shown in the user's language, and by the 24-hour clock everywhere. */
const formatter = (parts: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat(undefined, { ...parts, hourCycle: 'h23' })
  return (at: number | string): string => format.format(new Date(at))
}

const DAY = { year: 'numeric', month: 'short', day: 'numeric' } as const
const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const

/** Local date and time, to the millisecond, of milliseconds since 1970 or of a time of the API. */
export const exactTime = formatter({ ...DAY, ...CLOCK, fractionalSecondDigits: 3 })
/** The same to the second. */
export const dateTime = formatter({ ...DAY, ...CLOCK })
/** With the zone of the viewer, for those who compare it with the clock of another place. */
export const zonedTime = formatter({ ...DAY, ...CLOCK, timeZoneName: 'short' })
export const clockTime = formatter(CLOCK)
export const shortDateTime = formatter({ day: 'numeric', month: 'short', ...CLOCK })
/** The time of day, or day and time where the day is not today. */
export const recentTime = (at: string, clock: (at: string) => string): string =>
  new Date(at).toDateString() === new Date().toDateString() ? clock(at) : shortDateTime(at)
export const shortDay = formatter({ month: 'short', day: 'numeric' })
export const dayOnly = formatter(DAY)

export const viewerZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Days such as `2026-01-31` and times of day in a time zone; one that the browser does not know is UTC. */
export function clocksIn(zone: string) {
  const day = formatIn(zone, { year: 'numeric', month: '2-digit', day: '2-digit' })
  const clock = formatIn(zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  return {
    dayOf: (at: Date): string => {
      const parts = Object.fromEntries(day.formatToParts(at).map(({ type, value }) => [type, value]))
      return `${parts.year}-${parts.month}-${parts.day}`
    },
    clockOf: (at: Date): string => clock.format(at),
  }
}
function formatIn(timeZone: string, parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone })
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: 'UTC' })
  }
}

const dayFormat = (parts: Intl.DateTimeFormatOptions) => {
  const format = formatIn('UTC', parts)
  return (day: string): string => format.format(new Date(day))
}
/** The name of a day such as `2026-01-31`. */
export const monthOfDay = dayFormat({ month: 'long', year: 'numeric' })
export const nameOfDay = dayFormat({ day: 'numeric', month: 'short' })
export const fullNameOfDay = dayFormat({ day: 'numeric', month: 'short', year: 'numeric' })
export const weekdayOfDay = dayFormat({ weekday: 'short', day: 'numeric', month: 'short' })
