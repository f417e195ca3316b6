/**
 * What another clock shows, told from a steady clock of one's own, which nobody sets. In milliseconds throughout. Between two
 * looks only the steady clock counts.
 */

/** One look at the other clock: somewhere between `sentAt` and `heardAt` of the steady one it showed `told`. */
export interface ClockSample {
  readonly sentAt: number
  readonly told: number
  readonly heardAt: number
}

/** The other clock is ahead of the steady one by `offset`, give or take `error`, as it was at `at` of the steady one. */
export interface ClockOffset {
  readonly offset: number
  readonly error: number
  readonly at: number
}

/** Clocks that nobody sets part by less than so much of the time: quartz by a tenth of it, one that is slewed by half. */
const DRIFT = 0.001

/** Differences as small are rounding. */
const ROUNDING_MS = 0.1

/** Set by less than this, a clock is only measured better than before. */
export const SET_MS = 1_000

export function offsetOf({ sentAt, told, heardAt }: ClockSample): ClockOffset {
  const took = heardAt - sentAt
  // It may have been told at either end, and the clocks part meanwhile, too.
  return { offset: told - (sentAt + heardAt) / 2, error: took / 2 + DRIFT * took, at: heardAt }
}

/** How wrong what is known may be by now. */
export const errorAt = ({ error, at }: ClockOffset, steady: number): number => error + DRIFT * Math.max(0, steady - at)

/** Both cannot be true: the other clock was set, or the steady one stood still. */
export const contradicts = (known: ClockOffset, next: ClockOffset): boolean =>
  Math.abs(next.offset - known.offset) > errorAt(known, next.at) + next.error + ROUNDING_MS

/** What is known better, unless the newer look contradicts what was known. */
export function betterOf(known: ClockOffset | null, next: ClockOffset): ClockOffset {
  if (!known || contradicts(known, next)) return next
  return next.error <= errorAt(known, next.at) ? next : known
}

/** A time that follows another one: it stands still rather than go back a little, and goes back where the clock was set. */
export const following = (last: number, time: number): number => (time < last && last - time < SET_MS ? last : time)

/**
 * When something was, by the clock here, that somebody else has dated. With `sentAt`, by the same clock as `at`, only how long
 * ago it was counts. Never later than now, and never so early that it could not be stored.
 */
export function dateHere(at: Date, { sentAt, now }: { readonly sentAt: Date | null; readonly now: Date }): Date {
  const agoMs = (sentAt ?? now).getTime() - at.getTime()
  return new Date(Math.max(0, now.getTime() - Math.max(0, agoMs)))
}
