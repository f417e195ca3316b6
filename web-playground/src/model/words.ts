/** Numbers and times as people read them. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The two largest units, e.g. `3m 20s`, `2d 4h`; less than a second is `0s`. */
export function duration(ms: number): string {
  const at = Math.max(0, ms)
  if (at < MINUTE) return `${Math.floor(at / SECOND)}s`
  if (at < HOUR) return pair([Math.floor(at / MINUTE), 'm'], [Math.floor((at % MINUTE) / SECOND), 's'])
  if (at < DAY) return pair([Math.floor(at / HOUR), 'h'], [Math.floor((at % HOUR) / MINUTE), 'm'])
  return pair([Math.floor(at / DAY), 'd'], [Math.floor((at % DAY) / HOUR), 'h'])
}
const pair = (large: readonly [number, string], small: readonly [number, string]): string =>
  small[0] === 0 ? large.join('') : `${large.join('')} ${small.join('')}`

export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

/** The local time of day, to the millisecond, e.g. `22:02:20.104`. */
export function clockOf(at: string): string {
  const time = new Date(at)
  const two = (part: number): string => String(part).padStart(2, '0')
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')
  return `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`
}
