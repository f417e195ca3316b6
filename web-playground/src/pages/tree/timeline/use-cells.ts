import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import type { TimelineRow } from '../../../model/timeline-rows.ts'
import type { CellPlace } from './lane.tsx'
import type { Zoom } from './use-window.ts'

interface Options {
  readonly box: RefObject<HTMLElement | null>
  readonly rows: readonly TimelineRow[]
  readonly zoom: Zoom
  readonly scrollTo: (index: number) => void
  readonly onEscape: () => void
}
const PAGE_ROWS = 10
const STEP = 0.15
const NEARER = 0.7

/** Keyboard control: one stop for the Tab key; arrows lead from there to every row and piece, + and − zoom. */
export function useCells({ box, rows, zoom, scrollTo, onEscape }: Options) {
  const [place, setPlace] = useState<CellPlace | null>(null)
  const wanted = useRef<CellPlace | null>(null)
  const here = place && rows.some(({ id }) => id === place.id) ? place : { id: rows[0]?.id ?? '', cell: -1 }

  // Runs after each render, when a row that was far away is drawn.
  useEffect(() => {
    const { current } = wanted
    if (!current) return
    const found = cellsOf(box.current, current.id)[current.cell + 1]
    if (!found) return
    wanted.current = null
    found.focus({ preventScroll: true })
  })

  const go = (next: CellPlace): void => {
    wanted.current = next
    setPlace(next)
    scrollTo(rows.findIndex(({ id }) => id === next.id))
  }
  const toRow = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (row) go({ id: row.id, cell: -1 })
  }
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const index = rows.findIndex(({ id }) => id === here.id)
    const toCell = (by: number): void => {
      const cell = here.cell + by
      if (cell >= -1 && cell + 1 < cellsOf(box.current, here.id).length) go({ ...here, cell })
    }
    const keys = new Map<string, () => void>([
      ['ArrowDown', () => toRow(index + 1)],
      ['ArrowUp', () => toRow(index - 1)],
      ['PageDown', () => toRow(index + PAGE_ROWS)],
      ['PageUp', () => toRow(index - PAGE_ROWS)],
      ['Home', () => toRow(0)],
      ['End', () => toRow(rows.length - 1)],
      ['ArrowRight', () => (event.shiftKey ? zoom.pan(STEP) : toCell(1))],
      ['ArrowLeft', () => (event.shiftKey ? zoom.pan(-STEP) : toCell(-1))],
      ['+', () => zoom.zoom(NEARER)],
      ['=', () => zoom.zoom(NEARER)],
      ['-', () => zoom.zoom(1 / NEARER)],
      ['0', zoom.fit],
      ['Escape', onEscape],
    ])
    const run = keys.get(event.key)
    if (!run) return
    event.preventDefault()
    run()
  }
  return { here, onPlace: useCallback((next: CellPlace): void => setPlace(next), []), onKeyDown }
}

const cellsOf = (box: HTMLElement | null, id: string): readonly HTMLElement[] => [
  ...(box?.querySelectorAll<HTMLElement>(`[data-lane="${CSS.escape(id)}"] [data-cell]`) ?? []),
]
