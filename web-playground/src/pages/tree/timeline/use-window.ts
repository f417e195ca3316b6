import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { panned, type TimeWindow, zoomed } from '../../../model/time-window.ts'

export interface Zoom {
  readonly window: TimeWindow
  readonly zoom: (factor: number, anchor?: number) => void
  /** Moves by a part of the window. */
  readonly pan: (part: number) => void
  readonly fit: () => void
  readonly choose: (window: TimeWindow) => void
}

/** The visible part of the time: the whole time, as it grows, until the user chooses a part. */
export function useWindow(whole: TimeWindow): Zoom {
  const [chosen, setChosen] = useState<TimeWindow | null>(null)
  const all = useRef(whole)
  all.current = whole
  const zoom = useCallback((factor: number, anchor?: number): void => {
    setChosen((now) => zoomed(now ?? all.current, factor, anchor))
  }, [])
  const pan = useCallback((part: number): void => setChosen((now) => panned(now ?? all.current, part)), [])
  const fit = useCallback((): void => setChosen(null), [])
  const window = chosen ?? whole
  return useMemo(() => ({ window, zoom, pan, fit, choose: setChosen }), [window, zoom, pan, fit])
}

/** One notch of a wheel is about 100. */
const WHEEL = 0.0018

interface Chart {
  readonly box: RefObject<HTMLElement | null>
  /** The left edge of the chart in the box, and its width. */
  readonly left: number
  readonly width: number
}

/**
 * Ctrl and the wheel zoom at the pointer, Shift and the wheel move. The wheel alone scrolls, but zooms over the axis.
 */
export function useWheel({ box, left, width }: Chart, { window, zoom, pan }: Zoom): void {
  const now = useRef({ window, left, width })
  now.current = { window, left, width }
  useEffect(() => {
    const element = box.current
    const turn = (event: WheelEvent): void => {
      const { window: seen, left: start, width: wide } = now.current
      const onAxis = event.target instanceof Element && event.target.closest('.lane-axis') !== null
      const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX
      if (event.ctrlKey || event.metaKey || (onAxis && sideways === 0)) {
        const x = event.clientX - (element?.getBoundingClientRect().left ?? 0) - start
        const part = Math.min(1, Math.max(0, x / wide))
        zoom(Math.exp(event.deltaY * WHEEL), seen.from + (seen.to - seen.from) * part)
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) pan(sideways / wide)
      else return
      event.preventDefault()
    }
    element?.addEventListener('wheel', turn, { passive: false })
    return () => element?.removeEventListener('wheel', turn)
  }, [box, zoom, pan])
}

/** Fewer pixels are a click. */
const DRAG_PX = 4

/** Dragging sideways moves the chart. Returns handlers of the box. */
export function useDrag({ width }: Pick<Chart, 'width'>, pan: Zoom['pan']) {
  const drag = useRef<{ x: number; moved: boolean } | null>(null)
  return {
    onPointerDown: (event: React.PointerEvent<HTMLElement>): void => {
      const onChart = event.target instanceof Element && event.target.closest('.lane-chart, .lane-axis') !== null
      drag.current = onChart && event.button === 0 ? { x: event.clientX, moved: false } : null
    },
    onPointerMove: (event: React.PointerEvent<HTMLElement>): void => {
      const { current } = drag
      if (!current || event.buttons === 0) return
      const by = event.clientX - current.x
      if (!current.moved && Math.abs(by) < DRAG_PX) return
      if (!current.moved) event.currentTarget.setPointerCapture(event.pointerId)
      current.moved = true
      current.x = event.clientX
      pan(-by / width)
    },
    // The click that ends a drag selects nothing.
    onClickCapture: (event: React.MouseEvent): void => {
      if (drag.current?.moved) event.stopPropagation()
      drag.current = null
    },
  }
}
