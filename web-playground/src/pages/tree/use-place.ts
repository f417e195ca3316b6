import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import type { GraphView } from '../../model/graph-view.ts'
import { readPlace, type TreePlace } from '../../model/tree-place.ts'
import { placeHref } from '../../ui/links.ts'

/** Milliseconds between changes of the address: browsers refuse more frequent ones. */
const WRITE_MS = 250

interface Placed {
  readonly place: TreePlace
  readonly select: (id: string) => void
  /** Goes to another part of the graph; `select` as well, if an object is given. Typing is no step to go back to. */
  readonly show: (graph: GraphView, how?: { readonly object?: string; readonly replace?: boolean }) => void
  /** Moves to a sequence; null: to the present. */
  readonly travel: (at: number | null) => void
  /** Marks the critical path, or no longer. */
  readonly mark: (critical: boolean) => void
}

/** The view of the tree in the address, with the shown moment even before the address has it. */
export function usePlace(rootId: string): Placed {
  const search = useSearch()
  const [, navigate] = useLocation()
  const written = useMemo(() => readPlace(search, rootId), [search, rootId])
  const [moving, setMoving] = useState<{ readonly at: number | null } | null>(null)
  const at = moving ? moving.at : written.at
  const place = useMemo(() => ({ ...written, at }), [written, at])
  const now = useRef(place)
  now.current = place
  useEffect(() => {
    if (!moving) return
    const writing = setTimeout(() => {
      navigate(placeHref(rootId, now.current), { replace: true })
      setMoving(null)
    }, WRITE_MS)
    return () => clearTimeout(writing)
  }, [moving, navigate, rootId])
  const show = useCallback<Placed['show']>(
    (graph, { object = now.current.object, replace = false } = {}): void => {
      setMoving(null)
      navigate(placeHref(rootId, { ...now.current, object, graph }), { replace })
    },
    [navigate, rootId],
  )
  const select = useCallback((object: string): void => show(now.current.graph, { object }), [show])
  const mark = useCallback(
    (critical: boolean): void => navigate(placeHref(rootId, { ...now.current, critical }), { replace: true }),
    [navigate, rootId],
  )
  const travel = useCallback((to: number | null): void => setMoving({ at: to }), [])
  return { place, select, show, travel, mark }
}
