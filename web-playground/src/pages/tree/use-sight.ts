import { useReactFlow, useStoreApi, type Viewport } from '@xyflow/react'
import { useEffect, useRef } from 'react'
import type { Size } from '../../ui/area.ts'
import type { Box } from '../../ui/nested.ts'
import type { Placed } from './placed-graph.ts'

export const FIT = { padding: 0.03, maxZoom: 1.1 }
/** The smallest zoom at which names are readable. */
const READABLE = 0.5
const CLOSE = 0.8
const EDGE_PX = 16

interface Sight {
  readonly placed: Placed
  /** The node that is selected when the graph is drawn. */
  readonly now: { readonly current: { readonly selectedNode: string | undefined } }
  /** The box that was opened or closed last: it stays where it is seen. */
  readonly folded: { current: string | null }
  /** Another filter shows another graph, as a whole. */
  readonly filter: string
}

/** Keeps a growing tree in view, until the user has moved it. */
export function useSight({ placed, now, folded, filter }: Sight): void {
  const { fitView, setViewport, getViewport } = useReactFlow()
  const flow = useStoreApi()
  const fitted = useRef<string | null>(null)
  const last = useRef<{ readonly placed: Placed; readonly filter: string } | null>(null)
  const wanted = useRef(filter)
  wanted.current = filter
  useEffect(() => {
    const frame = requestAnimationFrame(async () => {
      const before = last.current
      last.current = { placed, filter: wanted.current }
      const kept = folded.current
      folded.current = null
      const viewport = getViewport()
      const moved = before && kept !== null ? moveOf(before.placed.boxes.get(kept), placed.boxes.get(kept)) : null
      if (moved) {
        const { x, y, zoom } = viewport
        await setViewport({ x: x - moved.x * zoom, y: y - moved.y * zoom, zoom })
        // The user looks for details now, which are not to shrink again.
        fitted.current = ''
        return
      }
      const isSame = before?.filter === wanted.current
      if (isSame && fitted.current !== null && fitted.current !== JSON.stringify(viewport)) return
      const { width, height } = flow.getState()
      const zoom = Math.min(width / placed.box.width, height / placed.box.height)
      const at = placed.boxes.get(now.current.selectedNode ?? '') ?? placed.boxes.values().next().value
      if (zoom > READABLE || !at) await fitView(FIT)
      // The tree is too large to be readable as a whole.
      else await setViewport(nearTo(at, { width, height }))
      fitted.current = JSON.stringify(getViewport())
    })
    return () => cancelAnimationFrame(frame)
  }, [placed, flow, now, folded, fitView, setViewport, getViewport])
}

const moveOf = (before: Box | undefined, now: Box | undefined) =>
  before && now ? { x: now.x - before.x, y: now.y - before.y } : null

/** Centres the selected node, or shows the upper left of what is larger than the view. */
function nearTo(box: Box, { width, height }: Size): Viewport {
  const zoom = Math.min(CLOSE, Math.max(READABLE, width / (box.width + 2 * EDGE_PX)))
  const along = (start: number, length: number, room: number): number =>
    length * zoom > room - 2 * EDGE_PX ? EDGE_PX - start * zoom : room / 2 - (start + length / 2) * zoom
  return { x: along(box.x, box.width, width), y: along(box.y, box.height, height), zoom }
}
