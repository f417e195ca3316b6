import type { PhaseChange } from 'phaseline/client'
import { PHASE_CLASSES, type PhaseClass } from 'phaseline/client-model'
import { classOf } from '../../../model/known.ts'
import { exactly, whoOf } from '../../../model/moment.ts'
import type { Piece } from '../../../model/time-window.ts'
import type { DrawnSegment } from '../../../model/timeline-runs.ts'
import { exactTime } from '../../../ui/exact-time.ts'

/** The text of a drawn piece: a title, and lines below it. */
export interface TipText {
  readonly title: string
  readonly look: PhaseClass
  readonly lines: readonly string[]
}
const LISTED = 6

export function tellPiece({ segments }: Piece<DrawnSegment>, now: number): TipText {
  const [only, second] = segments
  const look = lookOf(segments)
  if (only && !second) return { title: only.phase + attemptOf(only), look, lines: linesOf(only, now) }
  return {
    title: `${segments.length} phases`,
    look,
    lines: [
      ...segments.slice(0, LISTED).map((one) => `${one.phase}${attemptOf(one)}: ${lengthOf(one, now)}`),
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
export const lookOf = (segments: readonly DrawnSegment[]): PhaseClass =>
  PHASE_CLASSES.find((name) => segments.some(({ look }) => look === name)) ?? 'ACTIVE'

function attemptOf({ attempt, look, phase }: DrawnSegment): string {
  if (attempt === null) return ''
  return `, attempt ${attempt}${look === 'FAILED' && classOf(phase) !== 'FAILED' ? ' failed' : ''}`
}

function linesOf(segment: DrawnSegment, now: number): readonly string[] {
  const { from, change, isEnd, workMs } = segment
  return [
    Number.isFinite(from) ? `since ${exactTime(from)}` : 'since before the changes that are known',
    ...(isEnd && workMs !== null ? [`after ${exactly(workMs)}`] : []),
    `for ${lengthOf(segment, now)}`,
    ...(change ? [`moved by ${whoOf(change)}`] : []),
    ...[change?.reason, change?.message].filter((why) => why !== null && why !== undefined),
  ]
}

export function lengthOf({ from, to }: DrawnSegment, now: number): string {
  if (!Number.isFinite(from)) return 'some time'
  return to === null ? `${exactly(now - from)} so far` : exactly(to - from)
}
