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

/** The whole time; up to now while an object is unfinished. `room` is what is left free after it, as a part of it. */
export function wholeWindow(first: number, last: number, room = 0): TimeWindow {
  const span = Math.max(last - first, NEAREST_MS)
  return { from: first - span * MARGIN, to: first + span * (1 + Math.max(MARGIN, room)) }
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

/** A segment, or the mark of an end, which has no length. */
interface Drawable extends Segment {
  readonly isEnd?: boolean
}
/** A drawn piece: one segment, or several that are too short to be drawn apart. */
export interface Piece<S extends Drawable = Drawable> {
  readonly left: number
  readonly width: number
  readonly segments: readonly S[]
}
/** The smallest width in pixels: a narrower piece could not be seen or pointed at. */
export const NARROWEST_PX = 4
/** The width of the mark of an end, unless something follows sooner. */
export const END_PX = 18
/** The most pixels that short pieces may push a segment from its place, before it is drawn with them. */
const DRIFT_PX = 8

/** The pieces of an object's segments, in pixels from the left. */
export function piecesOf<S extends Drawable>(
  segments: readonly S[],
  { from, to }: TimeWindow,
  { width, now }: { readonly width: number; readonly now: number },
): readonly Piece<S>[] {
  const scale = width / (to - from)
  const pieces: { left: number; right: number; segments: S[] }[] = []
  for (const segment of segments) {
    const isEnd = segment.isEnd === true
    const end = isEnd ? segment.from : (segment.to ?? Math.max(now, segment.from))
    if (end < from || segment.from > to) continue
    const start = Math.max(0, (segment.from - from) * scale)
    const stop = Math.min(width, (end - from) * scale)
    const before = pieces.at(-1)
    if (before?.segments.at(-1)?.isEnd)
      before.right = Math.max(before.left + NARROWEST_PX, Math.min(before.right, start))
    const left = Math.max(start, before?.right ?? 0)
    const right = Math.max(stop, left + (isEnd ? END_PX : NARROWEST_PX))
    if (before && (isEnd ? left - start : right - stop) > DRIFT_PX) before.segments.push(segment)
    else pieces.push({ left, right, segments: [segment] })
  }
  return pieces.map(({ left, right, segments: drawn }) => ({ left, width: right - left, segments: drawn }))
}

/** Room for a duration in pixels. */
export const LENGTH_PX = 58

/** The places for durations of what has ended, beside their marks, where there is room before the next piece. */
export function lengthsBeside<S extends Drawable & { readonly workMs: number | null }>(
  pieces: readonly Piece<S>[],
  width: number,
): readonly { readonly left: number; readonly ms: number; readonly end: S }[] {
  return pieces.flatMap(({ left, width: wide, segments }, i) => {
    const end = segments.at(-1)
    const next = pieces[i + 1]?.left ?? width
    if (!end?.isEnd || end.workMs === null || next - left - wide < LENGTH_PX) return []
    return [{ left: left + wide, ms: end.workMs, end }]
  })
}
