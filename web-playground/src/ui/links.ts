import { ALL, type ObjectFilter, writeFilter } from '../model/filter.ts'
import { type TreePlace, writePlace } from '../model/tree-place.ts'

/** Addresses of the pages. */
export const treeHref = (rootId: string, objectId?: string): string =>
  objectId === undefined || objectId === rootId ? `/tree/${rootId}` : `/tree/${rootId}?object=${objectId}`
/** The tree as a timeline, or as it was. */
export const placeHref = (rootId: string, place: Partial<TreePlace>): string =>
  `/tree/${rootId}${writePlace(place, rootId)}`
export const objectsHref = (filter: Partial<ObjectFilter>): string => `/objects${writeFilter({ ...ALL, ...filter })}`
export const projectHref = (name: string): string => `/projects?name=${encodeURIComponent(name)}`

export interface CreateOptions {
  /** An installation by id, or a project by name, whose present spec is opened: to change it, or with `copy` to make another one of it. */
  readonly from?: string
  readonly copy?: boolean
  /** What it is for, or to stand on: the project of an event, the cloudlet of a cluster, the cluster of an app. */
  readonly on?: string
  /** By name. */
  readonly example?: string
}
/** The page that creates, or one of its forms by name. */
export function createHref(form?: string, { from, copy, on, example }: CreateOptions = {}): string {
  const params = new URLSearchParams({
    ...(from ? { from } : {}),
    ...(copy ? { copy: 'yes' } : {}),
    ...(on ? { on } : {}),
    ...(example ? { example } : {}),
  })
  return `/create${form ? `/${form}` : ''}${params.size > 0 ? `?${params}` : ''}`
}
/** The way of one object through the machine of its kind. */
export const wayHref = (objectId: string): string => `/machines?object=${objectId}`
