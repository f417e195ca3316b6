import { CLASS_SYMBOLS } from 'phaseline/client-model'
import type { TipText } from './describe.ts'

export interface Shown {
  readonly text: TipText
  /** Position of the described piece, in the window. */
  readonly left: number
  readonly bottom: number
}
const WIDTH = 300
const HEIGHT = 130

/** A tip next to the piece under the pointer or with the focus. It repeats the piece's accessible text. */
export function Tip({ text: { title, look, lines }, left, bottom }: Shown) {
  const x = Math.max(8, Math.min(left, innerWidth - WIDTH - 8))
  const isLow = bottom + HEIGHT > innerHeight
  const place = isLow ? { bottom: innerHeight - bottom + 34 } : { top: bottom + 6 }
  return (
    <div className={`tip is-${look.toLowerCase()}`} role="tooltip" style={{ left: x, maxWidth: WIDTH, ...place }}>
      <b>
        <span aria-hidden="true">{CLASS_SYMBOLS[look]}</span> {title}
      </b>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  )
}
