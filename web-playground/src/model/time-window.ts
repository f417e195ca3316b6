import type { Segment } from './timeline.ts'

/** The visible part of the time, in milliseconds since 1970. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}
/** The smallest window: the log has milliseconds. */
const NEAREST_MS = 20
/** About a century. */
const FARTHEST_MS = 3e12
/** The part of the window that is left free at both ends. */
const MARGIN = 0.03

/** The whole time; up to now while an object is unfinished. */
export function wholeWindow(first: number, last: number): TimeWindow {
  const span = Math.max(last - first, NEAREST_MS)
  return { from: first - span * MARGIN, to: first + span * (1 + MARGIN) }
}

/** Zooms: `factor` below 1 zooms in. `anchor` keeps its place, e.g. the moment under the pointer. */
export function zoomed({ from, to }: TimeWindow, factor: number, anchor = (from + to) / 2): TimeWindow {
  const span = Math.min(FARTHEST_MS, Math.max(NEAREST_MS, (to - from) * factor))
  const start = anchor - (span * (anchor - from)) / (to - from)
  return { from: start, to: start + span }
}

/** Moves by a part of the window; positive: later. */
export function panned({ from, to }: TimeWindow, part: number): TimeWindow {
  const by = (to - from) * part
  return { from: from + by, to: to + by }
}

/** A drawn piece: one segment, or several that are too short to be drawn apart. */
export interface Piece {
  readonly left: number
  readonly width: number
  readonly segments: readonly Segment[]
}
/** The smallest width in pixels: a narrower piece could not be seen or pointed at. */
export const NARROWEST_PX = 4
/** The most pixels that short pieces may push a segment from its place, before it is drawn with them. */
const DRIFT_PX = 8

/** The pieces of an object's segments, in pixels from the left. */
export function piecesOf(
  segments: readonly Segment[],
  { from, to }: TimeWindow,
  { width, now }: { readonly width: number; readonly now: number },
): readonly Piece[] {
  const scale = width / (to - from)
  const pieces: { left: number; right: number; segments: Segment[] }[] = []
  for (const segment of segments) {
    const end = segment.to ?? Math.max(now, segment.from)
    if (end < from || segment.from > to) continue
    const start = Math.max(0, (segment.from - from) * scale)
    const stop = Math.min(width, (end - from) * scale)
    const before = pieces.at(-1)
    const left = Math.max(start, before?.right ?? 0)
    const right = Math.max(stop, left + NARROWEST_PX)
    if (before && right - stop > DRIFT_PX) before.segments.push(segment)
    else pieces.push({ left, right, segments: [segment] })
  }
  return pieces.map(({ left, right, segments: drawn }) => ({ left, width: right - left, segments: drawn }))
}
