import { TIME_FIELDS, timeInput } from './time-range.ts'
import { type Codec, type FilterOf, oneOf, text, urlFilter } from './url-filter.ts'

/** The audit as its page shows it. */

export const OUTCOMES = ['DONE', 'REFUSED', 'FAILED'] as const
export type Outcome = (typeof OUTCOMES)[number]

const exactly = oneOf('outcome', OUTCOMES)
/** The address has it in small letters. */
const outcome: Codec<Outcome | null> = {
  ...exactly,
  read: (value) => exactly.read(value.toUpperCase()),
  write: (value) => exactly.write(value).toLowerCase(),
}
/** Empty texts and null: all. `principal` and `object` are ids. */
export const AUDIT_FILTER = urlFilter({
  operation: text('operation'),
  project: text('project'),
  principal: text('principal'),
  object: text('object'),
  outcome,
  ...TIME_FIELDS,
})
export type AuditFilter = FilterOf<typeof AUDIT_FILTER>

/** AuditFilter of the API. @param now milliseconds since 1970 */
export function auditFilterInput(filter: AuditFilter, now: number) {
  const { since, until } = timeInput(filter, now)
  return {
    ...(filter.operation && { operation: filter.operation }),
    ...(filter.project && { project: filter.project }),
    ...(filter.principal && { principalId: filter.principal }),
    ...(filter.object && { objectId: filter.object }),
    ...(filter.outcome && { outcome: filter.outcome }),
    ...(since && { since }),
    ...(until && { until }),
  }
}

/** The event's subject, e.g. `Secret shop/PASSWORD`; empty: none. An object is named by its path, if that is known. */
export function aboutOf(
  event: {
    readonly objectKind: string | null
    readonly objectName: string | null
    readonly objectId: string | null
    readonly projectName: string | null
  },
  paths: ReadonlyMap<string, string>,
): { readonly kind: string; readonly name: string } {
  const { objectKind, objectName, objectId, projectName } = event
  const name = paths.get(objectId ?? '') ?? objectName ?? objectId ?? ''
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
