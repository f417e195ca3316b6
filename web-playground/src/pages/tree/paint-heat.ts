import { PHASE_CLASSES, type PhaseClass } from 'phaseline/client-model'
import { cornerOf, type HeatCells } from '../../model/heat-map.ts'
import type { Size } from '../../ui/area.ts'

/** A heat map as it is painted. */
export interface Heat {
  readonly cells: HeatCells
  readonly ranks: Uint8Array
  readonly theme: 'light' | 'dark'
  /** Pixels of the canvas for one of the drawing. */
  readonly scale: number
}

/** Rest is pale, so that others stand out by more than their hue. */
const PALE: ReadonlySet<PhaseClass> = new Set(['WAITING', 'DONE', 'SKIPPED'])
const PALE_ALPHA = 0.4
/** A failed cell has no gaps around it, and never less. */
const LEAST_PX = 2

/** Paints the cells that differ from those that are there. */
export function paint(canvas: HTMLCanvasElement, room: Size, heat: Heat, before: Heat | null): void {
  const context = canvas.getContext('2d')
  if (!context) return
  const { cells, ranks, theme, scale } = heat
  const isSame = before?.cells === cells && before.theme === theme && before.scale === scale
  if (!isSame) {
    // A new size clears the canvas.
    canvas.width = Math.ceil(room.width * scale)
    canvas.height = Math.ceil(room.height * scale)
  }
  const colours = coloursOf(canvas, theme)
  const gap = Math.max(1, Math.round(scale))
  ranks.forEach((rank, cell) => {
    if (isSame && before.ranks[cell] === rank) return
    const { x, y } = cornerOf(cells, cell)
    const [left, top] = [Math.round(x * scale), Math.round(y * scale)]
    const [right, bottom] = [Math.round((x + cells.pitch) * scale), Math.round((y + cells.pitch) * scale)]
    context.clearRect(left, top, right - left, bottom - top)
    const look = PHASE_CLASSES[rank]
    if (look === undefined) return
    const between = look === 'FAILED' ? 0 : gap
    context.globalAlpha = PALE.has(look) ? PALE_ALPHA : 1
    context.fillStyle = colours.get(look) ?? ''
    context.fillRect(left, top, Math.max(LEAST_PX, right - left - between), Math.max(LEAST_PX, bottom - top - between))
  })
}

let known: { readonly theme: Heat['theme']; readonly colours: ReadonlyMap<PhaseClass, string> } | undefined

/** The tokens, as a canvas takes them: it knows no light-dark(). */
function coloursOf(canvas: HTMLCanvasElement, theme: Heat['theme']): ReadonlyMap<PhaseClass, string> {
  if (known?.theme === theme) return known.colours
  const colours = new Map(
    PHASE_CLASSES.map((one) => {
      canvas.style.color = `var(--${one.toLowerCase()})`
      return [one, getComputedStyle(canvas).color] as const
    }),
  )
  canvas.style.color = ''
  known = { theme, colours }
  return colours
}
