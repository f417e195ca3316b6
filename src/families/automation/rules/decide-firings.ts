import { BY_TIME, type SkipReason } from './plan-firings.ts'
import type { ScheduleSpec } from './spec.ts'

/** A firing that is still to start something, or whose root still runs. */
export interface Open {
  readonly outcome: string
  readonly due: Date
  readonly cause: string
  /** Null: it is not of a backfill. */
  readonly backfillId: string | null
}
export interface Decision<F> {
  readonly firing: F
  /** CANCEL: end what this firing has started. */
  readonly verdict: 'START' | 'QUEUED' | 'SKIPPED' | 'CANCEL'
  readonly reason: SkipReason | null
}

/**
 * Decides about open firings, the oldest first. At most one starts at a time unless they may overlap: the next search sees
 * what it has started.
 * @param isHeld automation of the project is held: only people fire
 */
export function decideFirings<F extends Open>(
  { overlap, maxQueued }: Pick<ScheduleSpec, 'overlap' | 'maxQueued'>,
  firings: readonly F[],
  isHeld = false,
): readonly Decision<F>[] {
  const running = firings.filter(({ outcome }) => outcome === 'FIRED')
  const waiting = firings.filter(({ outcome }) => outcome !== 'FIRED')
  const start = (firing: F): Decision<F> => ({ firing, verdict: 'START', reason: null })
  const skip = (firing: F, reason: SkipReason): Decision<F> => ({ firing, verdict: 'SKIPPED', reason })
  if (isHeld) {
    const byTime = waiting.filter(({ cause }) => cause === BY_TIME)
    if (byTime.length > 0) return byTime.map((firing) => skip(firing, 'HELD'))
  }
  if (overlap === 'ALLOW') return waiting.map(start)
  const [first, ...rest] = waiting
  if (!first) return []
  if (overlap === 'SKIP')
    return running.length > 0
      ? waiting.map((firing) => skip(firing, 'OVERLAP'))
      : [start(first), ...rest.map((firing) => skip(firing, 'OVERLAP'))]
  const fresh = (list: readonly F[]) => list.filter(({ outcome }) => outcome === 'PENDING')
  if (overlap === 'QUEUE') {
    const queue = running.length > 0 ? waiting : rest
    const kept = queue.slice(0, maxQueued)
    return [
      ...(running.length > 0 ? [] : [start(first)]),
      ...fresh(kept).map((firing): Decision<F> => ({ firing, verdict: 'QUEUED', reason: null })),
      ...queue.slice(maxQueued).map((firing) => skip(firing, 'QUEUE_FULL')),
    ]
  }
  // CANCEL_RUNNING: the newest waits alone, and what runs is cancelled once, when the first one begins to wait. A backfill
  // would not start again what is cancelled of it.
  const newest = waiting.at(-1) ?? first
  const replaced = waiting.slice(0, -1).map((firing) => skip(firing, 'REPLACED'))
  if (running.length === 0) return [...replaced, start(newest)]
  const isFirst = waiting.every(({ outcome }) => outcome === 'PENDING')
  const cancelled = isFirst ? running.filter(({ backfillId }) => backfillId === null) : []
  return [
    ...replaced,
    ...cancelled.map((firing): Decision<F> => ({ firing, verdict: 'CANCEL', reason: null })),
    ...fresh([newest]).map((firing): Decision<F> => ({ firing, verdict: 'QUEUED', reason: null })),
  ]
}
