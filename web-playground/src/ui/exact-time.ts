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
export const clockTime = formatter(CLOCK)
export const shortDateTime = formatter({ day: 'numeric', month: 'short', ...CLOCK })
export const shortDay = formatter({ month: 'short', day: 'numeric' })
export const dayOnly = formatter(DAY)
