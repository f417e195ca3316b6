import { heatRoom } from '../../model/heat-map.ts'
import type { Size } from '../../ui/area.ts'

/** Sizes that leave room for the texts of nodes; the style sheet has the same lengths, in pixels. */

/** Border, padding and symbol. */
const BESIDE = 40
const FOLD_BUTTON = 24
const NARROWEST = 110
/** Longer phases are cut: few are, and rarely. */
const WIDEST_PHASE = 132
/** Longer names take several lines. */
const WIDEST = 320
/** The head of a box that is drawn around others: one line. */
const HEAD = 28
/** Name and phase. */
const TWO_LINES = 42
/** The kind has a line of its own, where there is room. */
const THIRD_LINE = 17
const BAR = 6
/** Below a heat map. */
const PAD = 6
/** Border and padding beside a heat map. */
const AROUND_HEAT = 16
const LINE = 19
/** Between the texts of one line. */
const BETWEEN = 8
/** The longest age, e.g. `59m`. */
const AGE = 36
const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
/** As large as they are drawn at a zoom of 0.75: nothing is cut at a larger one. */
const FONTS = { name: `600 15px ${FAMILY}`, phase: `700 14.7px ${FAMILY}`, quiet: `14.7px ${FAMILY}` } as const

let context: CanvasRenderingContext2D | null | undefined
const known = new Map<string, number>()
function widthOf(text: string, font: keyof typeof FONTS): number {
  const key = `${font} ${text}`
  const width = known.get(key) ?? measured(text, FONTS[font])
  if (known.size >= KEPT) known.clear()
  known.set(key, width)
  return width
}
const KEPT = 10_000
function measured(text: string, font: string): number {
  context ??= document.createElement('canvas').getContext('2d')
  if (!context) return text.length * 9
  context.font = font
  return Math.ceil(context.measureText(text).width)
}

/** The texts of a node, also possible later ones. */
export interface NodeLabel {
  readonly name: string
  readonly kind: string
  /** All phases that it may have: it keeps its size when its phase changes. */
  readonly phases: readonly string[]
  readonly state: 'open' | 'closed' | null
  /** Objects that are counted in it and not drawn. */
  readonly folded: number
  /** The kind has a line of its own. */
  readonly isRoomy: boolean
}
export interface NodeSize extends Size {
  /** The kind has room beside the name. */
  readonly hasKind: boolean
  /** The room of the heat map of what is folded; null: it is too little, and has a bar. */
  readonly heat: Size | null
}
export function nodeSize({ name, kind, phases, state, folded, isRoomy }: NodeLabel): NodeSize {
  const beside = BESIDE + (state === null ? 0 : FOLD_BUTTON)
  const [text, quiet] = [widthOf(name, 'name'), widthOf(kind, 'quiet')]
  const phase = Math.min(WIDEST_PHASE, Math.max(0, ...phases.map((one) => widthOf(one, 'phase'))))
  if (state === 'open') return { width: text + BETWEEN + phase + beside, height: HEAD, hasKind: false, heat: null }
  const counts = state === 'closed' ? widthOf(COUNTS, 'quiet') : 0
  const lines = isRoomy ? Math.max(phase, quiet + BETWEEN + AGE, counts) : phase + (counts && counts + BETWEEN)
  const texts = Math.max(NARROWEST, lines + beside, Math.min(WIDEST, text + beside))
  const aroundHeat = AROUND_HEAT + FOLD_BUTTON
  const heat = heatRoom(folded, texts - aroundHeat, WIDEST)
  const width = heat ? heat.width + aroundHeat : texts
  const below = heat ? heat.height + PAD : state === 'closed' ? BAR : 0
  // A line that is broken is not full.
  const rows = text + beside <= width ? 1 : Math.ceil(text / ((width - beside) * 0.85))
  return {
    width,
    height: TWO_LINES + (isRoomy ? THIRD_LINE : 0) + below + (rows - 1) * LINE,
    hasKind: !isRoomy && text + BETWEEN + quiet + beside <= width,
    heat,
  }
}
/** As wide as the counts of two classes. */
const COUNTS = '99 ✗ 999 ✓'
