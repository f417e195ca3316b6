import { backoffMs } from '../../../core/backoff.ts'

/** A message is tried for a day, then it is FAILED and releases its object. */
const TRIED_MS = 24 * 60 * 60 * 1_000
const BACKOFF = { baseMs: 5_000, factor: 2, capMs: 60 * 60 * 1_000 }

export interface Attempt {
  readonly attempts: number
  readonly firstAt: Date
  /** Milliseconds that the receiver has asked for; null: none. */
  readonly retryAfterMs: number | null
}

/** When a message is tried again after a failed attempt; null: not any more. */
export function nextAttempt({ attempts, firstAt, retryAfterMs }: Attempt, now: Date, random: number): Date | null {
  const wait = Math.max(backoffMs(attempts, random, BACKOFF), Math.min(retryAfterMs ?? 0, BACKOFF.capMs))
  const next = new Date(now.getTime() + wait)
  return next.getTime() - firstAt.getTime() > TRIED_MS ? null : next
}
