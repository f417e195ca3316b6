import type { When } from '../../when.ts'

/** Times as people say them, e.g. `every weekday at 02:30 in Berlin`. A line that would take more than a sentence is shown itself. */
export function timesInWords({ cron, timeZone, every, at, start, until }: When): string {
  const zone = timeZone === 'UTC' ? 'UTC' : (timeZone.split('/').at(-1) ?? timeZone).replaceAll('_', ' ')
  const day = (time: string) =>
    new Intl.DateTimeFormat('en-GB', { ...DAY_AND_TIME, timeZone }).format(new Date(time)).replace(' at ', ', ')
  if (at !== null) return `once, on ${day(at)} in ${zone}`
  const times = every
    ? `every ${duration(every.ms)}${every.offsetMs > 0 ? `, ${duration(every.offsetMs)} after the full ones` : ''}`
    : `${cron.map(lineInWords).join('; ')} in ${zone}`
  const bounds = [start === null ? '' : `, from ${day(start)}`, until === null ? '' : `, until ${day(until)}`]
  return `${times}${bounds.join('')}`
}
const DAY_AND_TIME = { day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
  [1, 'millisecond'],
] as const
/** In the largest unit that says it exactly; one of it without the number, as after `every`. */
function duration(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms % size === 0) ?? UNITS[4]
  return counted(ms / size, unit)
}
export const durationInWords = (ms: number): string => duration(ms).replace(/^(?=[a-z])/, '1 ')
/** `every` comes before it: `minute`, `5 minutes`. */
const counted = (count: number, unit: string): string => (count === 1 ? unit : `${count} ${unit}s`)

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'],
  ...['November', 'December'],
]
const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

function lineInWords(line: string): string {
  const fields = (NICKNAMES[line.trim().toLowerCase()] ?? line).trim().split(/\s+/)
  const [second = '', minute = '', hour = '', date = '', month = '', weekday = ''] =
    fields.length === 5 ? ['0', ...fields] : fields
  const time = timeOf(second, minute, hour)
  const days = daysOf(date, month, weekday)
  if (fields.length > 6 || time === null || days === null) return `at the times of ${line.trim()}`
  if (!time.startsWith('at ')) return days === EVERY_DAY ? time : `${time}, ${days.replace(/^every (\w+)$/, 'on $1s')}`
  return `${days} ${time}`
}

/** Null: it takes more than a few words. */
function timeOf(second: string, minute: string, hour: string): string | null {
  const [seconds, minutes, hours] = [values(second, 0, 59), values(minute, 0, 59), values(hour, 0, 23)]
  if (!seconds || !minutes || !hours) return null
  const step = (field: string, of: number): number | null => {
    const [, text] = /^\*(?:\/(\d+))?$/.exec(field) ?? [null, null]
    const every = text === undefined ? 1 : Number(text)
    return text === null || of % every !== 0 ? null : every
  }
  const within =
    hours.length === 24 ? '' : isRun(hours) ? ` from ${clock(hours[0], 0)} to ${clock(hours.at(-1), 59)}` : null
  const [bySecond, byMinute, byHour] = [step(second, 60), step(minute, 60), step(hour, 24)]
  if (bySecond !== null)
    return byMinute === 1 && within !== null ? `every ${counted(bySecond, 'second')}${within}` : null
  if (seconds.length > 1 || seconds[0] !== 0) return null
  if (byMinute !== null) return within === null ? null : `every ${counted(byMinute, 'minute')}${within}`
  const past = minutes.length === 1 && minutes[0] === 0 ? '' : ` at ${list(minutes.map((one) => `:${two(one)}`))}`
  if (byHour !== null) return minutes.length > 4 ? null : `every ${counted(byHour, 'hour')}${past}`
  if (hours.length * minutes.length <= 6)
    return `at ${list(hours.flatMap((one) => minutes.map((each) => clock(one, each))))}`
  if (minutes.length > 1 || !isRun(hours)) return null
  return `every hour from ${clock(hours[0], minutes[0])} to ${clock(hours.at(-1), minutes[0])}`
}

const EVERY_DAY = 'every day'
function daysOf(date: string, month: string, weekday: string): string | null {
  const months = values(month, 1, 12, MONTHS)
  const isAnyDate = date === '*' || date === '?'
  const dates = date === 'L' ? [] : values(date, 1, 31)
  // Sunday is 0 and 7.
  const weekdays = values(weekday.replaceAll('7', '0'), 0, 6, DAYS)
  if (!months || !dates || !weekdays || (!isAnyDate && dates.length > 6)) return null
  const names = months.length === 12 ? null : list(months.map((one) => MONTHS[one - 1] ?? ''))
  const isAnyDay = weekdays.length === 7
  const named = dayNames(weekdays)
  if (isAnyDate) return `${isAnyDay ? EVERY_DAY : `every ${named}`}${names === null ? '' : ` in ${names}`}`
  const which = date === 'L' ? 'the last day' : `day${dates.length === 1 ? '' : 's'} ${list(dates.map(String))}`
  const onDates = `on ${which} of ${names ?? 'every month'}`
  // Both: a day of either.
  return isAnyDay ? onDates : `${onDates} and every ${named}`
}
function dayNames(days: readonly number[]): string {
  const key = days.join()
  if (key === '1,2,3,4,5') return 'weekday'
  if (key === '0,6') return 'Saturday and Sunday'
  return list(days.map((day) => DAYS[day] ?? ''))
}

/** The numbers of a field; null: it has other marks, or is out of range. */
function values(field: string, min: number, max: number, names: readonly string[] = []): readonly number[] | null {
  const numberOf = (text: string): number => {
    const named = names.findIndex((name) => name.slice(0, 3).toUpperCase() === text.toUpperCase())
    return named < 0 ? (/^\d+$/.test(text) ? Number(text) : Number.NaN) : named + min
  }
  const found = new Set<number>()
  for (const part of field.split(',')) {
    const [, range = '', step] = /^([^/]+)(?:\/(\d+))?$/.exec(part) ?? []
    const [from = '', to] = range === '*' || range === '?' ? [String(min), String(max)] : range.split('-')
    const first = numberOf(from)
    const last = to === undefined ? (step === undefined ? first : max) : numberOf(to)
    if (!(first >= min && last <= max && first <= last) || step === '0') return null
    for (let one = first; one <= last; one += Number(step ?? 1)) found.add(one)
  }
  return [...found].sort((a, b) => a - b)
}
const isRun = (numbers: readonly number[]): boolean => numbers.every((one, i) => one === (numbers[0] ?? 0) + i)
const two = (number = 0): string => String(number).padStart(2, '0')
const clock = (hour: number | undefined, minute: number | undefined): string => `${two(hour)}:${two(minute)}`
const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
