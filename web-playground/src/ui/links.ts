import { ALL, type ObjectFilter, writeFilter } from '../model/filter.ts'

/** Addresses of the pages. */
export const treeHref = (rootId: string, objectId?: string): string =>
  objectId === undefined || objectId === rootId ? `/tree/${rootId}` : `/tree/${rootId}?object=${objectId}`
export const objectsHref = (filter: Partial<ObjectFilter>): string => `/objects${writeFilter({ ...ALL, ...filter })}`
export const projectHref = (name: string): string => `/projects?name=${encodeURIComponent(name)}`
