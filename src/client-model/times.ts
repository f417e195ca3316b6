import { duration } from './duration.ts'

const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)/

/** Cuts a sentence of the server at the times in it: every second part is one. */
export const splitTimes = (sentence: string): readonly string[] => sentence.split(TIME)

/** The sentence apart from its times, to recognise others that differ only in them. */
export const withoutTimes = (sentence: string): string =>
  splitTimes(sentence)
    .filter((_, i) => i % 2 === 0)
    .join('')

/** Adds to each time in a sentence how far it is from now, e.g. `at 2026-01-01T00:00:30.000Z (in 12.0s)`. */
export const tellTimes = (sentence: string, now: number): string =>
  splitTimes(sentence)
    .map((part, i) => (i % 2 === 0 ? part : `${part}${fromNow(Date.parse(part) - now)}`))
    .join('')

/** Nothing for what only looks like a time. */
function fromNow(ms: number): string {
  if (Number.isNaN(ms)) return ''
  return ms > 0 ? ` (in ${duration(ms)})` : ` (${duration(-ms)} ago)`
}
