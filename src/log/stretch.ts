import type { PhaseChangeQuery } from '../core/ports/phase-change.ts'
import type { LogHead } from './head.ts'
import type { PageRange } from './page.ts'
import type { SequenceWindow } from './time-window.ts'

/** Sequences that one page scans, change by change, when no index leads to the matches. */
export const STRETCH = 30_000
/** Sequences within which one page uses the index of stretches to find those to scan. */
export const SEARCHED = 2_000_000

/** True if the query may match few changes of the whole log, so that filling a page could take a scan of it. */
export const isNarrow = ({ objectId, rootId, includeRejected: _, ...filter }: PhaseChangeQuery): boolean =>
  objectId === undefined &&
  rootId === undefined &&
  Object.values(filter).some((value) => value !== undefined && value !== null)

export interface Stretch extends SequenceWindow {
  /** The last sequence to scan, when the range has more beyond it; otherwise null. */
  readonly end: number | null
}

/** The part of a range that one page looks through, from the side on which the page begins. */
export function stretchOf(
  { after, before, direction }: Pick<PageRange, 'after' | 'before' | 'direction'>,
  times: SequenceWindow,
  { floor, head }: Pick<LogHead, 'floor' | 'head'>,
  length: number,
): Stretch {
  const low = Math.max(after, times.after, floor)
  const high = Math.min(before ?? Number.POSITIVE_INFINITY, times.before, head + 1)
  if (high - low - 1 <= length) return { after: low, before: Math.max(high, 0), end: null }
  return direction === 'forward'
    ? { after: low, before: low + length + 1, end: low + length }
    : { after: high - length - 1, before: high, end: high - length }
}

/** The first parts, in the order of the page, that have no more than so many sequences together. */
export function firstOf(
  parts: readonly SequenceWindow[],
  { direction, end }: Pick<PageRange, 'direction'> & Pick<Stretch, 'end'>,
  length = STRETCH,
): { readonly parts: readonly SequenceWindow[]; readonly end: number | null } {
  const taken: SequenceWindow[] = []
  let left = length
  for (const part of direction === 'forward' ? parts : parts.toReversed()) {
    const { after, before } = part
    const size = before - after - 1
    if (size > left) {
      if (direction === 'forward') {
        if (left > 0) taken.push({ after, before: after + left + 1 })
        return { parts: taken, end: after + left }
      }
      if (left > 0) taken.push({ after: before - left - 1, before })
      return { parts: taken, end: before - left }
    }
    taken.push(part)
    left -= size
  }
  return { parts: taken, end }
}
