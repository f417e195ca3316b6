/**
 * Estimates the time of another clock from a local monotonic clock, here called steady. All times are in milliseconds.
 * Between two samples only the steady clock counts.
 */

/** One reading of the other clock: it showed `shown` at some time between `sentAt` and `receivedAt` of the steady one. */
export interface ClockSample {
  readonly sentAt: number
  readonly shown: number
  readonly receivedAt: number
}

/** At `at` of the steady clock, the other one was ahead by `offset`, give or take `error`. */
export interface ClockOffset {
  readonly offset: number
  readonly error: number
  readonly at: number
}

/** Bounds the relative drift of two clocks that are not set: quartz drifts a tenth of it, a slewed clock half. */
const DRIFT = 0.001

/** Smaller differences come from rounding. */
const ROUNDING_MS = 0.1

/** A smaller correction counts as a better measurement of the clock, a larger one as a clock that was set. */
export const SET_MS = 1_000

export function offsetOf({ sentAt, shown, receivedAt }: ClockSample): ClockOffset {
  const took = receivedAt - sentAt
  // The reading may be from either end of the interval, during which the clocks also drift.
  return { offset: shown - (sentAt + receivedAt) / 2, error: took / 2 + DRIFT * took, at: receivedAt }
}

/** The error of an earlier offset by now. */
export const errorAt = ({ error, at }: ClockOffset, steady: number): number => error + DRIFT * Math.max(0, steady - at)

/** True if both offsets cannot be right: the other clock was set, or the steady one stood still. */
export const contradicts = (known: ClockOffset, next: ClockOffset): boolean =>
  Math.abs(next.offset - known.offset) > errorAt(known, next.at) + next.error + ROUNDING_MS

/** The more exact of two offsets, unless the newer one contradicts the known one. */
export function betterOf(known: ClockOffset | null, next: ClockOffset): ClockOffset {
  if (!known || contradicts(known, next)) return next
  return next.error <= errorAt(known, next.at) ? next : known
}

/** The time after `last`: it stands still rather than go back a little, and goes back if the clock was set. */
export const following = (last: number, time: number): number => (time < last && last - time < SET_MS ? last : time)

/**
 * Converts the time of an event from another clock to the local one. With `sentAt`, by the same clock as `at`, only the
 * age of the event counts. Never later than now, and never too early for the database.
 */
export function dateHere(at: Date, { sentAt, now }: { readonly sentAt: Date | null; readonly now: Date }): Date {
  const agoMs = (sentAt ?? now).getTime() - at.getTime()
  return new Date(Math.max(0, now.getTime() - Math.max(0, agoMs)))
}
