const EXACT = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
})

/** Local date and time, to the millisecond, of milliseconds since 1970 or of a time of the API. */
export const exactTime = (at: number | string): string => EXACT.format(new Date(at))
