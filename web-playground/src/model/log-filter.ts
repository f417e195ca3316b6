import { TIME_FIELDS, timeInput } from './time-range.ts'
import { type FilterOf, oneOf, text, urlFilter, word } from './url-filter.ts'

/** The filter of the log. The server applies it. Empty texts, and null: all. */
export const LOG_FILTER = urlFilter({
  project: text('project'),
  /** Words, of which a change must contain each. */
  text: text('search'),
  kind: word('kind'),
  /** Class of the phase that the object came to. */
  became: word('became'),
  actor: word('actor'),
  rejected: oneOf('refused', ['only', 'none']),
  ...TIME_FIELDS,
})
export type LogFilter = FilterOf<typeof LOG_FILTER>

/** PhaseChangeFilter of the API. @param now milliseconds since 1970 */
export function logFilterInput(filter: LogFilter, phasesOf: (className: string) => readonly string[], now: number) {
  const { project, text, kind, became, actor, rejected } = filter
  return {
    ...(project && { project }),
    ...(text.trim() && { search: text }),
    ...(kind && { kinds: [kind] }),
    ...(became && { to: [...phasesOf(became)] }),
    ...(actor && { actors: [actor] }),
    ...timeInput(filter, now),
    includeRejected: rejected !== 'none',
    ...(rejected === 'only' && { onlyRejected: true }),
  }
}
