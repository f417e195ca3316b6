import type { PhaseClass } from 'phaseline/client-model'
import { classOf, isFinalPhase } from './known.ts'
import type { Lane, Segment } from './timeline.ts'

/** One run of an object: from its first phase to the final one in which it rests. */
export interface ObjectRun {
  /** No phase occurs twice in one: an object that returns to a phase begins another attempt. */
  readonly attempts: readonly (readonly Segment[])[]
  /** The final phase; null: the run has not ended. */
  readonly end: Segment | null
}
/** When an object worked. Milliseconds since 1970. */
export interface WorkSpan {
  /** -Infinity: before the first known change. */
  readonly from: number
  /** null: it still works. */
  readonly to: number | null
}
/** A segment, as a timeline draws it. */
export interface DrawnSegment extends Segment {
  readonly look: PhaseClass
  /** Number of the attempt within its run; null: the run has one alone. */
  readonly attempt: number | null
  /** The object rests: there is nothing to draw but how its run has ended. */
  readonly isEnd: boolean
  /** Milliseconds of the run that has ended here, without waiting; null: there is none, or its beginning is unknown. */
  readonly workMs: number | null
}

export function runsOf(kind: string, segments: readonly Segment[]): readonly ObjectRun[] {
  const runs: ObjectRun[] = []
  let attempts: Segment[][] = []
  for (const segment of segments) {
    const last = attempts.at(-1)
    if (isFinalPhase(kind, segment.phase)) {
      runs.push({ attempts, end: segment })
      attempts = []
    } else if (!last || last.some(({ phase }) => phase === segment.phase)) attempts.push([segment])
    else last.push(segment)
  }
  return attempts.length > 0 ? [...runs, { attempts, end: null }] : runs
}

/** From the end of waiting to the end of the run; undefined: it has not begun to work. */
function spanOf({ attempts, end }: ObjectRun): WorkSpan | undefined {
  const first = attempts.flat().find(({ phase }) => works(phase))
  return first && { from: first.from, to: end ? end.from : null }
}
const works = (phase: string): boolean => ['ACTIVE', 'UNDOING', 'REMOVING'].includes(classOf(phase))

/** When the object worked last; undefined: it never did. A deletion ends a run as well. */
export function lastSpan({ kind, segments, gone }: Lane): WorkSpan | undefined {
  const run = runsOf(kind, segments).at(-1)
  const span = run && spanOf(run)
  return span && { from: span.from, to: span.to ?? (gone ? Date.parse(gone.at) : null) }
}

/** Milliseconds of the last run, without waiting; null: it has not ended, or its beginning is unknown. */
export function runMs(lane: Lane): number | null {
  const run = runsOf(lane.kind, lane.segments).at(-1)
  return run ? msOf(run) : null
}
function msOf(run: ObjectRun): number | null {
  const { from, to = null } = spanOf(run) ?? {}
  return from === undefined || to === null || !Number.isFinite(from) ? null : to - from
}

/** A final phase is a mark where the work ends; an attempt that another one follows has failed. */
export function drawnSegments(kind: string, segments: readonly Segment[]): readonly DrawnSegment[] {
  return runsOf(kind, segments).flatMap((run) => {
    const { attempts, end } = run
    const isRetried = attempts.map((attempt, i) => i < attempts.length - 1 && works(attempt.at(-1)?.phase ?? ''))
    const drawn = attempts.flatMap((attempt, i) =>
      attempt.map((segment, j): DrawnSegment => {
        const look = classOf(segment.phase)
        const isFailure = isRetried[i] === true && j === attempt.length - 1
        const isPause = isRetried[i - 1] === true && j === 0
        return {
          ...segment,
          look: look !== 'ACTIVE' ? look : isFailure ? 'FAILED' : isPause ? 'WAITING' : look,
          attempt: attempts.length > 1 ? i + 1 : null,
          isEnd: false,
          workMs: null,
        }
      }),
    )
    if (!end) return drawn
    const rest = { look: classOf(end.phase), attempt: null, isEnd: true, workMs: msOf(run) }
    return [...drawn, { ...end, ...rest }]
  })
}
