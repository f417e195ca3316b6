import { useCallback } from 'react'
import { useLocation, useSearch } from 'wouter'
import { rewritten } from '../model/scope.ts'
import type { UrlFilter } from '../model/url-filter.ts'

/** The filter in the address of the page, and what changes it there. */
export function useFilter<F>(of: UrlFilter<F>): readonly [filter: F, change: (next: F) => void] {
  const search = useSearch()
  const [path, navigate] = useLocation()
  const change = useCallback(
    (next: F): void => {
      const written = of.write(next)
      const query = 'project' in of.fields ? rewritten(location.search, written) : written
      navigate(path + query, { replace: true })
    },
    [path, navigate, of],
  )
  return [of.read(search), change]
}
