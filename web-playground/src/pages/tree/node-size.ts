import type { Size } from '../../ui/nested.ts'

/** Sizes that leave room for what nodes say; the style sheet has the same lengths, in pixels. */

/** Border, padding and symbol. */
const BESIDE = 58
const FOLD_BUTTON = 24
const NARROWEST = 120
/** Longer names take several lines. */
const WIDEST = 340
const ONE_LINE = 56
const LINE = 20
const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
const FONTS = { name: `600 14px ${FAMILY}`, phase: `700 11px ${FAMILY}` } as const

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
  /** All phases that it may have: it keeps its size when its phase changes. */
  readonly phases: readonly string[]
  readonly foldable: boolean
}
export function nodeSize({ name, phases, foldable }: NodeLabel): Size {
  const beside = BESIDE + (foldable ? FOLD_BUTTON : 0)
  const text = widthOf(name, 'name')
  const phase = Math.max(0, ...phases.map((one) => widthOf(one, 'phase')))
  const width = Math.max(NARROWEST, phase + beside, Math.min(WIDEST, text + beside))
  // A line that is broken is not full.
  const lines = text + beside <= width ? 1 : Math.ceil(text / ((width - beside) * 0.85))
  return { width, height: ONE_LINE + (lines - 1) * LINE }
}
