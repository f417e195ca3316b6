import { timeTicks } from 'd3-time'
import type { TimeWindow } from '../model/time-window.ts'

export interface Tick {
  readonly at: number
  /** Empty: there is no room for it before the edge. */
  readonly text: string
}
/** The least pixels between two labels. */
const TICK_PX = 64
/** At the size of its text, digits have the same width and letters are hardly wider. */
const CHARACTER_PX = 7
const PADDING_PX = 16
const SECOND = 1_000
const DAY = 86_400_000

const FORMATS: readonly (readonly [stepMs: number, format: Intl.DateTimeFormatOptions])[] = [
  [365 * DAY, { year: 'numeric' }],
  [28 * DAY, { month: 'short', year: 'numeric' }],
  [DAY, { day: 'numeric', month: 'short' }],
  [6 * 3_600_000, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }],
  [60 * SECOND, { hour: '2-digit', minute: '2-digit' }],
  [SECOND, { hour: '2-digit', minute: '2-digit', second: '2-digit' }],
  [0, { minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }],
]

/** Ticks at round local times, as many as have room, with labels as precise as their distance needs. */
export function ticksOf(window: TimeWindow, width: number): readonly Tick[] {
  const { from, to } = window
  const scale = width / (to - from)
  for (let most = Math.max(1, Math.floor(width / TICK_PX)); ; most -= 1) {
    const ticks = labelled(window, most)
    const widest = Math.max(...ticks.map(({ text }) => widthOf(text)))
    const [first, second] = ticks
    const isCrowded = first && second && (second.at - first.at) * scale < widest
    // d3 takes the number as a hint.
    if (isCrowded && most > 1) continue
    return (isCrowded ? [first] : ticks).map(({ at, text }) => ({
      at,
      text: (at - from) * scale + widthOf(text) > width ? '' : text,
    }))
  }
}
const widthOf = (text: string): number => text.length * CHARACTER_PX + PADDING_PX

function labelled({ from, to }: TimeWindow, most: number): readonly Tick[] {
  const dates = timeTicks(new Date(from), new Date(to), most)
  const [first, second] = dates
  const step = first && second ? second.getTime() - first.getTime() : to - from
  const [, format] = FORMATS.find(([least]) => step >= least) ?? [0, {}]
  const text = new Intl.DateTimeFormat(undefined, { ...format, hourCycle: 'h23' })
  return dates.map((date) => ({ at: date.getTime(), text: text.format(date) }))
}
