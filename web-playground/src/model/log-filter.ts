/** The filter of the log, as the address has it. The server applies it. */

export const LOG_SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const
export type LogSpan = keyof typeof LOG_SPANS
const REJECTED = ['all', 'only', 'none'] as const

/** Empty texts, and null: all. */
export interface LogFilter {
  /** Words, of which a change must contain each. */
  readonly text: string
  readonly kind: string
  /** Class of the phase that the object came to. */
  readonly became: string
  readonly actor: string
  readonly rejected: (typeof REJECTED)[number]
  /** How far back. */
  readonly last: LogSpan | null
  /** ISO 8601. */
  readonly since: string
  readonly until: string
}
export const WHOLE_LOG: LogFilter = {
  text: '',
  kind: '',
  became: '',
  actor: '',
  rejected: 'all',
  last: null,
  since: '',
  until: '',
}

export const readLogSpan = (text: string): LogSpan | null => (Object.hasOwn(LOG_SPANS, text) ? (text as LogSpan) : null)
export const readRejected = (text: string): LogFilter['rejected'] => REJECTED.find((one) => one === text) ?? 'all'

export function readLogFilter(search: string): LogFilter {
  const params = new URLSearchParams(search)
  const word = (name: string): string => (/^[A-Za-z_]+$/.test(params.get(name) ?? '') ? (params.get(name) ?? '') : '')
  const time = (name: string): string => {
    const ms = Date.parse(params.get(name) ?? '')
    return Number.isNaN(ms) ? '' : new Date(ms).toISOString()
  }
  return {
    // No more than the server takes.
    text: (params.get('search') ?? '').slice(0, 255),
    kind: word('kind'),
    became: word('became'),
    actor: word('actor'),
    rejected: readRejected(params.get('refused') ?? ''),
    last: readLogSpan(params.get('last') ?? ''),
    since: time('since'),
    until: time('until'),
  }
}

/** Defaults are omitted. Starts with `?`, or is empty. */
export function writeLogFilter({ text, kind, became, actor, rejected, last, since, until }: LogFilter): string {
  const params = new URLSearchParams()
  if (text) params.set('search', text)
  if (kind) params.set('kind', kind)
  if (became) params.set('became', became)
  if (actor) params.set('actor', actor)
  if (rejected !== 'all') params.set('refused', rejected)
  if (last) params.set('last', last)
  if (since) params.set('since', since)
  if (until) params.set('until', until)
  const query = params.toString()
  return query ? `?${query}` : ''
}

/** PhaseChangeFilter of the API. @param now milliseconds since 1970 */
export function logFilterInput(filter: LogFilter, phasesOf: (className: string) => readonly string[], now: number) {
  const { text, kind, became, actor, rejected, last, since, until } = filter
  return {
    ...(text.trim() && { search: text }),
    ...(kind && { kinds: [kind] }),
    ...(became && { to: [...phasesOf(became)] }),
    ...(actor && { actors: [actor] }),
    ...(last ? { since: new Date(now - LOG_SPANS[last]).toISOString() } : since ? { since } : {}),
    ...(until && { until }),
    includeRejected: rejected !== 'none',
    ...(rejected === 'only' && { onlyRejected: true }),
  }
}
