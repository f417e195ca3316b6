import { timeTicks } from 'd3-time'
import type { TimeWindow } from '../model/time-window.ts'

export interface Tick {
  readonly at: number
  readonly text: string
}
/** Pixels of a label. */
const TICK_PX = 86
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
export function ticksOf({ from, to }: TimeWindow, width: number): readonly Tick[] {
  const dates = timeTicks(new Date(from), new Date(to), Math.max(1, Math.floor(width / TICK_PX)))
  const [first, second] = dates
  const step = first && second ? second.getTime() - first.getTime() : to - from
  const [, format] = FORMATS.find(([least]) => step >= least) ?? [0, {}]
  const text = new Intl.DateTimeFormat(undefined, { ...format, hourCycle: 'h23' })
  return dates.map((date) => ({ at: date.getTime(), text: text.format(date) }))
}
