import { useReactFlow, useStoreApi } from '@xyflow/react'
import { type FocusEvent, type KeyboardEvent, type RefObject, useCallback, useRef, useState } from 'react'
import { type GraphNode, nodeAt } from '../../model/tree-graph.ts'
import type { Box } from '../../ui/nested.ts'
import type { Placed } from './placed-graph.ts'

interface Source {
  readonly placed: Placed | null
  readonly selected: string | undefined
  readonly onFold: (node: GraphNode, to: 'open' | 'closed') => void
}
interface GraphKeys {
  /** The node that Tab leads to. */
  readonly stop: string | undefined
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
  readonly onFocus: (event: FocusEvent<HTMLElement>) => void
  readonly onDrawn: (id: string, button: HTMLButtonElement | null) => void
  readonly onAwait: (id: string) => void
}

const FOLDS: Readonly<Record<string, 'open' | 'closed'>> = { '+': 'open', '-': 'closed' }

/** The keyboard in the graph: arrows lead from node to node, + and − open and close a box. */
export function useGraphKeys(canvas: RefObject<HTMLElement | null>, { placed, selected, onFold }: Source): GraphKeys {
  const { setCenter, getViewport } = useReactFlow()
  const flow = useStoreApi()
  const [at, setAt] = useState<string | null>(null)
  /** A node that is out of sight, and takes the focus once it is drawn. */
  const wanted = useRef<string | null>(null)
  const buttons = useRef(new Map<string, HTMLButtonElement>())
  const onDrawn = useCallback((id: string, button: HTMLButtonElement | null): void => {
    if (!button) {
      buttons.current.delete(id)
      return
    }
    buttons.current.set(id, button)
    if (wanted.current !== id) return
    wanted.current = null
    button.focus({ preventScroll: true })
  }, [])
  const onAwait = useCallback((id: string): void => {
    wanted.current = id
  }, [])
  const nodeOf = (target: EventTarget): string | undefined =>
    [...buttons.current].find(([, button]) => button === target)?.[0]
  const onFocus = ({ target }: FocusEvent<HTMLElement>): void => {
    const id = nodeOf(target)
    if (id !== undefined) setAt(id)
  }
  const go = (id: string, boxes: ReadonlyMap<string, Box>): void => {
    const box = boxes.get(id)
    const { width, height } = flow.getState()
    const { x, y, zoom } = getViewport()
    if (box && !isInSight(box, { x, y, zoom, width, height }))
      void setCenter(box.x + Math.min(box.width, width / zoom) / 2, box.y + Math.min(box.height, height / zoom) / 2, {
        zoom,
      })
    wanted.current = id
    const button = buttons.current.get(id)
    if (button) onDrawn(id, button)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (!placed || event.altKey || event.ctrlKey || event.metaKey) return
    const id = nodeOf(event.target)
    const node = id === undefined ? undefined : placed.graph.nodes.find((one) => one.id === id)
    if (!node || !canvas.current?.contains(event.target as Element)) return
    const to = FOLDS[event.key]
    const next = nodeAt(placed.graph, node.id, event.key)
    if (to !== undefined && node.state !== null && node.state !== to) onFold(node, to)
    else if (next !== undefined) go(next, placed.boxes)
    else return
    event.preventDefault()
  }
  const isThere = (id: string | null | undefined): id is string => !!id && (placed?.boxes.has(id) ?? false)
  const stop = isThere(at) ? at : isThere(selected) ? selected : placed?.graph.nodes[0]?.id
  return { stop, onKeyDown, onFocus, onDrawn, onAwait }
}

interface Sight {
  readonly x: number
  readonly y: number
  readonly zoom: number
  readonly width: number
  readonly height: number
}
/** The head of a large box suffices. */
function isInSight(box: Box, { x, y, zoom, width, height }: Sight): boolean {
  const [left, top] = [box.x * zoom + x, box.y * zoom + y]
  const [right, bottom] = [left + box.width * zoom, top + (box.contains ? HEAD : box.height) * zoom]
  return top >= 0 && bottom <= height && right > 0 && left < width && (box.contains || (left >= 0 && right <= width))
}
const HEAD = 28
