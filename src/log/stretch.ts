import type { PhaseChangeQuery } from '../core/ports/phase-change.ts'
import type { LogHead } from './head.ts'
import type { PageRange } from './page.ts'
import type { SequenceWindow } from './time-window.ts'

/** Sequences that one page looks through when no index leads to the matches. */
export const STRETCH = 100_000

/** Whether the query may match few changes of the whole log, so that finding a page of them could take a scan of it. */
export const isNarrow = ({ objectId, rootId, includeRejected: _, ...filter }: PhaseChangeQuery): boolean =>
  objectId === undefined &&
  rootId === undefined &&
  Object.values(filter).some((value) => value !== undefined && value !== null)

export interface Stretch extends SequenceWindow {
  /** The last sequence that is looked at, when the range has more beyond it; otherwise null. */
  readonly end: number | null
}

/** The part of a range that one page looks through, from the side on which the page begins. */
export function stretchOf(
  { after, before, direction }: Pick<PageRange, 'after' | 'before' | 'direction'>,
  times: SequenceWindow,
  { floor, head }: Pick<LogHead, 'floor' | 'head'>,
  length = STRETCH,
): Stretch {
  const low = Math.max(after, times.after, floor)
  const high = Math.min(before ?? Number.POSITIVE_INFINITY, times.before, head + 1)
  if (high - low - 1 <= length) return { after: low, before: Math.max(high, 0), end: null }
  return direction === 'forward'
    ? { after: low, before: low + length + 1, end: low + length }
    : { after: high - length - 1, before: high, end: high - length }
}
