import { splitTimes } from '../../client-model/index.ts'
import { duration } from './text.ts'

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
