import { ANY_TIME, readTimeRange, type TimeRange, timeEntries, timeInput } from './time-range.ts'

/** The filter of the log, as the address has it. The server applies it. */

const REJECTED = ['all', 'only', 'none'] as const

/** Empty texts, and null: all. */
export interface LogFilter extends TimeRange {
  readonly project: string
  /** Words, of which a change must contain each. */
  readonly text: string
  readonly kind: string
  /** Class of the object's new phase. */
  readonly became: string
  readonly actor: string
  readonly rejected: (typeof REJECTED)[number]
}
export const WHOLE_LOG: LogFilter = {
  project: '',
  text: '',
  kind: '',
  became: '',
  actor: '',
  rejected: 'all',
  ...ANY_TIME,
}

export const readRejected = (text: string): LogFilter['rejected'] => REJECTED.find((one) => one === text) ?? 'all'

export function readLogFilter(search: string): LogFilter {
  const params = new URLSearchParams(search)
  // No more than the server takes.
  const take = (name: string): string => (params.get(name) ?? '').slice(0, 255)
  const word = (name: string): string => (/^[A-Za-z_]+$/.test(take(name)) ? take(name) : '')
  return {
    project: take('project'),
    text: take('search'),
    kind: word('kind'),
    became: word('became'),
    actor: word('actor'),
    rejected: readRejected(take('refused')),
    ...readTimeRange(params),
  }
}

/** Defaults are omitted. Starts with `?`, or is empty. */
export function writeLogFilter({ project, text, kind, became, actor, rejected, ...range }: LogFilter): string {
  const texts = { project, search: text, kind, became, actor, refused: rejected === 'all' ? '' : rejected }
  const entries = [...Object.entries(texts).filter(([, value]) => value), ...timeEntries(range)]
  const query = new URLSearchParams(entries.map(([name, value]) => [name, value])).toString()
  return query ? `?${query}` : ''
}

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
