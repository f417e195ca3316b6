import { type RefObject, useEffect, useState } from 'react'

/** The size in the style sheet. */
const NAME_PX = 256
const NARROW_NAME_PX = 128
const NARROW = 700

/** The left edge of the chart in its box, and its width. */
export function useChartSize(box: RefObject<HTMLElement | null>): { readonly left: number; readonly width: number } {
  const [size, setSize] = useState({ left: NAME_PX, width: 600 })
  useEffect(() => {
    const element = box.current
    if (!element) return
    const watcher = new ResizeObserver(() => {
      const left = innerWidth <= NARROW ? NARROW_NAME_PX : NAME_PX
      setSize({ left, width: Math.max(50, element.clientWidth - left) })
    })
    watcher.observe(element)
    return () => watcher.disconnect()
  }, [box])
  return size
}
