import { ALL, type ObjectFilter, writeFilter } from '../model/filter.ts'
import { type TreePlace, writePlace } from '../model/tree-place.ts'

/** Addresses of the pages. */
export const treeHref = (rootId: string, objectId?: string): string =>
  objectId === undefined || objectId === rootId ? `/tree/${rootId}` : `/tree/${rootId}?object=${objectId}`
/** The tree as a timeline, or as it was. */
export const placeHref = (rootId: string, place: Partial<TreePlace>): string =>
  `/tree/${rootId}${writePlace(place, rootId)}`
export const objectsHref = (filter: Partial<ObjectFilter>): string => `/objects${writeFilter({ ...ALL, ...filter })}`
/** The way of one object through the machine of its kind. */
export const wayHref = (objectId: string): string => `/machines?object=${objectId}`
