import { AUDIT_FILTER, type AuditFilter } from '../model/audit.ts'
import { OBJECT_FILTER, type ObjectFilter } from '../model/filter.ts'
import { LOG_FILTER, type LogFilter } from '../model/log-filter.ts'
import { OUTPUT_FILTER, type OutputFilter } from '../model/output-filter.ts'
import { type PartialPlace, writePlace } from '../model/tree-place.ts'

/** Addresses of the pages. */
export const treeHref = (rootId: string, objectId?: string): string =>
  objectId === undefined || objectId === rootId ? `/tree/${rootId}` : `/tree/${rootId}?object=${objectId}`
/** The same with the question before a verb of the object, which asks and does nothing. */
export const verbHref = (rootId: string, objectId: string, verb: string): string =>
  `/tree/${rootId}?${new URLSearchParams({ ...(objectId === rootId ? {} : { object: objectId }), verb })}`
/** The view: timeline or graph, present or past. */
export const placeHref = (rootId: string, place: PartialPlace): string => `/tree/${rootId}${writePlace(place, rootId)}`
export const objectsHref = (filter: Partial<ObjectFilter>): string => `/objects${OBJECT_FILTER.write(filter)}`
export const auditHref = (filter: Partial<AuditFilter>): string => `/audit${AUDIT_FILTER.write(filter)}`
export const logHref = (filter: Partial<LogFilter>): string => `/log${LOG_FILTER.write(filter)}`
export const outputHref = (filter: Partial<OutputFilter>): string => `/log/output${OUTPUT_FILTER.write(filter)}`
/** With a time: the changes since then. */
export const projectHref = (name: string, since?: string): string =>
  `/projects?${new URLSearchParams({ name, ...(since !== undefined && { since }) })}`

export interface CreateOptions {
  /**
   * Opens the present spec of an installation by id, or of a project by name: to change it, or to copy it with `copy`.
   */
  readonly from?: string
  readonly copy?: boolean
  /** The parent of the new object: the project of an event, the cloudlet of a cluster, the cluster of an app. */
  readonly on?: string
  /** Name of the example. */
  readonly example?: string
}
/** The page with all forms, or one of them by name. */
export function createHref(form?: string, { from, copy, on, example }: CreateOptions = {}): string {
  const params = new URLSearchParams({
    ...(from ? { from } : {}),
    ...(copy ? { copy: 'yes' } : {}),
    ...(on ? { on } : {}),
    ...(example ? { example } : {}),
  })
  return `/create${form ? `/${form}` : ''}${params.size > 0 ? `?${params}` : ''}`
}
/** The path of one object through the machine of its kind. */
export const wayHref = (objectId: string): string => `/machines?object=${objectId}`
