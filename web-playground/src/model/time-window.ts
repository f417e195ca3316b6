import type { Segment } from './timeline.ts'

/** What of the time is in sight, in milliseconds since 1970. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}
/** Nearer than this there is nothing to see: the log knows milliseconds. */
const NEAREST_MS = 20
/** About a century. */
const FARTHEST_MS = 3e12
/** Of what is in sight, so much is left free at its ends. */
const MARGIN = 0.03

/** All of it; up to now while something goes on. */
export function wholeWindow(first: number, last: number): TimeWindow {
  const span = Math.max(last - first, NEAREST_MS)
  return { from: first - span * MARGIN, to: first + span * (1 + MARGIN) }
}

/** `factor` below 1: nearer. `anchor` stays where it is, e.g. the moment under the pointer. */
export function zoomed({ from, to }: TimeWindow, factor: number, anchor = (from + to) / 2): TimeWindow {
  const span = Math.min(FARTHEST_MS, Math.max(NEAREST_MS, (to - from) * factor))
  const start = anchor - (span * (anchor - from)) / (to - from)
  return { from: start, to: start + span }
}

/** By a part of what is in sight; positive: later. */
export function panned({ from, to }: TimeWindow, part: number): TimeWindow {
  const by = (to - from) * part
  return { from: from + by, to: to + by }
}

/** Something drawn: one segment, or several that are too short to be told apart. */
export interface Piece {
  readonly left: number
  readonly width: number
  readonly segments: readonly Segment[]
}
/** Nothing is drawn narrower: it could not be seen or pointed at. */
export const NARROWEST_PX = 4
/** What is pushed further than this from its place by short ones before it is drawn with them. */
const DRIFT_PX = 8

/** What is drawn of an object's segments, in pixels from the left. */
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
