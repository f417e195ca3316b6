import { SYMBOLS } from '../../../model/phases.ts'
import type { TipText } from './describe.ts'

export interface Shown {
  readonly text: TipText
  /** Of what it tells of, in the window. */
  readonly left: number
  readonly bottom: number
}
const WIDTH = 300
const HEIGHT = 130

/** Beside what is pointed at, or has the focus; it says no more than that says by itself. */
export function Tip({ text: { title, look, lines }, left, bottom }: Shown) {
  const x = Math.max(8, Math.min(left, innerWidth - WIDTH - 8))
  const isLow = bottom + HEIGHT > innerHeight
  const place = isLow ? { bottom: innerHeight - bottom + 34 } : { top: bottom + 6 }
  return (
    <div className={`tip is-${look}`} role="tooltip" style={{ left: x, maxWidth: WIDTH, ...place }}>
      <b>
        <span aria-hidden="true">{SYMBOLS[look]}</span> {title}
      </b>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  )
}
