import { useStore } from '@xyflow/react'
import { type RefObject, useEffect } from 'react'

/** Steps of the zoom at which texts change: more would draw all of them again at each turn of the wheel. */
const LEVELS = [1, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15, 0.05] as const

/** The smallest zoom at which nothing is cut: nodes have room for their texts as they are there. */
const READABLE = 0.75
/** The smallest zoom at which two lines fit. */
const TWO_LINES = 0.65

/** A step at or below the present zoom. */
export const useZoomLevel = (): number =>
  useStore(({ transform: [, , zoom] }) => LEVELS.find((one) => one <= zoom) ?? 0.05)

/** Tells the style sheet the zoom, below which texts stay as large as they are, and less of them is shown. */
export function ZoomLevel({ canvas }: { readonly canvas: RefObject<HTMLElement | null> }) {
  const level = useZoomLevel()
  useEffect(() => {
    const { current } = canvas
    current?.style.setProperty('--zoom', String(level))
    current?.setAttribute('data-far', level >= READABLE ? 'near' : level >= TWO_LINES ? 'far' : 'farthest')
  }, [canvas, level])
  return null
}
