import { useLocation, useSearch } from 'wouter'
import { readPlace } from '../../model/tree-place.ts'
import { placeHref } from '../../ui/links.ts'

/** The address of an object, now or at a sequence; within the same tree the view, and what its graph shows, stay. */
export function useObjectHref(): (rootId: string, objectId: string, at?: number) => string {
  const [path] = useLocation()
  const search = useSearch()
  return (rootId, object, at) => {
    const isSame = path === `/tree/${rootId}`
    const { view, graph } = readPlace(search, rootId)
    return placeHref(rootId, { object, at: at ?? null, ...(isSame && { view, graph }) })
  }
}
