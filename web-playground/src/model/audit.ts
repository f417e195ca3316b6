import { ANY_TIME, readTimeRange, type TimeRange, timeEntries, timeInput } from './time-range.ts'

/** The audit as its page shows it. */

export const OUTCOMES = ['DONE', 'REFUSED', 'FAILED'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** The filter, as the address has it; empty texts and nulls: all. */
export interface AuditFilter extends TimeRange {
  readonly operation: string
  readonly project: string
  /** Ids. */
  readonly principal: string
  readonly object: string
  readonly outcome: Outcome | null
}
export const WHOLE_AUDIT: AuditFilter = {
  operation: '',
  project: '',
  principal: '',
  object: '',
  outcome: null,
  ...ANY_TIME,
}

const TEXTS = ['operation', 'project', 'principal', 'object'] as const

export function readAuditFilter(search: string): AuditFilter {
  const params = new URLSearchParams(search)
  const text = (name: string): string => params.get(name) ?? ''
  return {
    operation: text('operation'),
    project: text('project'),
    principal: text('principal'),
    object: text('object'),
    outcome: OUTCOMES.find((outcome) => outcome === text('outcome').toUpperCase()) ?? null,
    ...readTimeRange(params),
  }
}

/** Defaults are omitted. Starts with `?`, or is empty. */
export function writeAuditFilter(filter: AuditFilter): string {
  const params = new URLSearchParams()
  for (const name of TEXTS) if (filter[name]) params.set(name, filter[name])
  if (filter.outcome) params.set('outcome', filter.outcome.toLowerCase())
  for (const [name, value] of timeEntries(filter)) params.set(name, value)
  const text = params.toString()
  return text ? `?${text}` : ''
}

/** AuditFilterInput of the API. @param now milliseconds since 1970 */
export function auditFilterInput(filter: AuditFilter, now: number) {
  const { since, until } = timeInput(filter, now)
  return {
    ...(filter.operation && { operation: filter.operation }),
    ...(filter.project && { project: filter.project }),
    ...(filter.principal && { principalId: filter.principal }),
    ...(filter.object && { objectId: filter.object }),
    ...(filter.outcome && { outcome: filter.outcome }),
    ...(since && { from: since }),
    ...(until && { until }),
  }
}

/** The event's subject, e.g. `Secret shop/PASSWORD`; empty: none. */
export function aboutOf(event: {
  readonly objectKind: string | null
  readonly objectName: string | null
  readonly objectId: string | null
  readonly projectName: string | null
}): { readonly kind: string; readonly name: string } {
  const { objectKind, objectName, objectId, projectName } = event
  const name = objectName ?? objectId ?? ''
  const where = projectName !== null && objectKind !== 'PROJECT' ? projectName : ''
  return { kind: name ? (objectKind ?? '') : '', name: [where, name].filter(Boolean).join('/') }
}

/** Newest first, each once. */
export function withNewer<Event extends { readonly sequence: number }>(
  events: readonly Event[],
  event: Event,
): readonly Event[] {
  const newest = events[0]
  return newest && event.sequence <= newest.sequence ? events : [event, ...events]
}
