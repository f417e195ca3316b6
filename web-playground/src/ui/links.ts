import { type AuditFilter, WHOLE_AUDIT, writeAuditFilter } from '../model/audit.ts'
import { ALL, type ObjectFilter, writeFilter } from '../model/filter.ts'
import { type LogFilter, WHOLE_LOG, writeLogFilter } from '../model/log-filter.ts'
import { ALL_OUTPUT, type OutputFilter, writeOutputFilter } from '../model/output-filter.ts'
import { type TreePlace, writePlace } from '../model/tree-place.ts'

/** Addresses of the pages. */
export const treeHref = (rootId: string, objectId?: string): string =>
  objectId === undefined || objectId === rootId ? `/tree/${rootId}` : `/tree/${rootId}?object=${objectId}`
/** The view: timeline or graph, present or past. */
export const placeHref = (rootId: string, place: Partial<TreePlace>): string =>
  `/tree/${rootId}${writePlace(place, rootId)}`
export const objectsHref = (filter: Partial<ObjectFilter>): string => `/objects${writeFilter({ ...ALL, ...filter })}`
export const auditHref = (filter: Partial<AuditFilter>): string =>
  `/audit${writeAuditFilter({ ...WHOLE_AUDIT, ...filter })}`
export const logHref = (filter: Partial<LogFilter>): string => `/log${writeLogFilter({ ...WHOLE_LOG, ...filter })}`
export const outputHref = (filter: Partial<OutputFilter>): string =>
  `/log/output${writeOutputFilter({ ...ALL_OUTPUT, ...filter })}`
export const projectHref = (name: string): string => `/projects?name=${encodeURIComponent(name)}`

export interface CreateOptions {
  /**
   * Opens the present spec of an installation by id, or of a project by name: to change it, or to copy it with `copy`.
   */
  readonly from?: string
  readonly copy?: boolean
  /** The trace of its connection_init; each operation may have its own. */
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
