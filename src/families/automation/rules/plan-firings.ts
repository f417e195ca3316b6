import { jitterOf, nextDue, passed } from '../../when.ts'
import type { ScheduleSpec } from './spec.ts'

/** A firing that is to be written: one time, or skipped ones together. */
export interface PlannedFiring {
  readonly cause: string
  readonly due: Date
  /** The last of the times that are skipped together; null: there is one. */
  readonly lastDue: Date | null
  /** Null: more than were counted. */
  readonly count: number | null
  /** Null: it is to start something. */
  readonly skipped: SkipReason | null
}
export const SKIP_REASONS = [
  ...(['PAUSED', 'MISSED', 'OVERLAP', 'QUEUE_FULL', 'REPLACED', 'HELD', 'HAS_FIRED', 'CANCELLED'] as const),
] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

export const BY_TIME = 'TIME'

interface State {
  readonly id: string
  readonly due: Date
  readonly firedCount: number
}
export interface Plan {
  readonly firings: readonly PlannedFiring[]
  /** The next time; null: none is to come. */
  readonly next: Date | null
  /** When the clock has to run out for it. */
  readonly wakeAt: Date | null
}

/** Decides about the times from `due` up to `now`. Nothing to do: no firings, and the same next time. */
export function planFirings(spec: ScheduleSpec, { id, due, firedCount }: State, now: Date): Plan {
  const delayOf = (time: Date) => jitterOf(id, time, spec.jitterMs)
  const reached = (time: Date) => time.getTime() + delayOf(time) <= now.getTime()
  const wakeAt = (time: Date | null) => time && new Date(time.getTime() + delayOf(time))
  if (!reached(due)) return { firings: [], next: due, wakeAt: wakeAt(due) }

  const newest = spec.catchUp === 'ALL' ? spec.maxCaughtUp : 1
  const later = passed(spec, due, now, newest)
  // One that is still delayed has not passed, and neither has any after it.
  const delayed = later.times.findIndex((time) => !reached(time))
  const times = [due, ...(delayed < 0 ? later.times : later.times.slice(0, delayed))]
  const isComplete = later.isComplete || (delayed >= 0 && delayed <= later.listed)
  const isOnTime = (time: Date) => now.getTime() - time.getTime() - delayOf(time) <= spec.graceMs
  const left = spec.count === null ? Number.POSITIVE_INFINITY : Math.max(0, spec.count - firedCount)
  const candidates = times.slice(-newest).filter((time) => spec.catchUp !== 'NONE' || isOnTime(time))
  const fired = candidates.slice(0, left)
  const isFired = new Set(fired)
  const skipped = left === 0 ? [] : times.filter((time) => !isFired.has(time) && !candidates.slice(left).includes(time))
  const firings = [
    ...(skipped.length > 0 ? [skippedTogether(skipped, 'MISSED', isComplete)] : []),
    ...fired.map((time): PlannedFiring => ({ cause: BY_TIME, due: time, lastDue: null, count: 1, skipped: null })),
  ]
  const isUsedUp = fired.length >= left
  const next = isUsedUp ? null : nextDue(spec, times.at(-1) ?? due)
  return { firings, next, wakeAt: wakeAt(next) }
}

export function skippedTogether(times: readonly Date[], reason: SkipReason, isComplete: boolean): PlannedFiring {
  const [first = new Date(0)] = times
  const last = times.at(-1) ?? first
  return {
    ...{ cause: BY_TIME, due: first, lastDue: times.length > 1 ? last : null },
    ...{ count: isComplete ? times.length : null, skipped: reason },
  }
}
