import type { PhaseChange } from 'phaseline/client'
import { PHASE_CLASSES, type PhaseClass } from 'phaseline/client-model'
import { classOf } from '../../../model/known.ts'
import { exactly, whoOf } from '../../../model/moment.ts'
import type { Piece } from '../../../model/time-window.ts'
import type { Segment } from '../../../model/timeline.ts'
import { exactTime } from '../../../ui/exact-time.ts'

/** The text of a drawn piece: a title, and lines below it. */
export interface TipText {
  readonly title: string
  readonly look: PhaseClass
  readonly lines: readonly string[]
}
const LISTED = 6

export function tellPiece({ segments }: Piece, now: number): TipText {
  const [only, second] = segments
  const look = lookOf(segments)
  if (only && !second) return { title: only.phase, look, lines: linesOf(only, now) }
  return {
    title: `${segments.length} phases`,
    look,
    lines: [
      ...segments.slice(0, LISTED).map((segment) => `${segment.phase}: ${lengthOf(segment, now)}`),
      ...(segments.length > LISTED ? [`and ${segments.length - LISTED} more`] : []),
      'zoom in to tell them apart',
    ],
  }
}

export function tellRefused(change: PhaseChange): TipText {
  const { from, to, at, message, reason } = change
  return {
    title: `Refused: ${from ? `${from} → ` : ''}${to}`,
    look: 'STOPPED',
    lines: [`asked by ${whoOf(change)}`, exactTime(at), message ?? reason ?? ''].filter(Boolean),
  }
}

/** The class of several segments: the one that needs attention most. */
export const lookOf = (segments: readonly Segment[]): PhaseClass =>
  PHASE_CLASSES.find((name) => segments.some(({ phase }) => classOf(phase) === name)) ?? 'ACTIVE'

function linesOf(segment: Segment, now: number): readonly string[] {
  const { from, change } = segment
  return [
    Number.isFinite(from) ? `since ${exactTime(from)}` : 'since before the changes that are known',
    `for ${lengthOf(segment, now)}`,
    ...(change ? [`moved by ${whoOf(change)}`] : []),
    ...[change?.reason, change?.message].filter((why) => why !== null && why !== undefined),
  ]
}

function lengthOf({ from, to }: Segment, now: number): string {
  if (!Number.isFinite(from)) return 'some time'
  return to === null ? `${exactly(now - from)} so far` : exactly(to - from)
}
