export interface BackoffOptions {
  /** The full delay after the first failure, in milliseconds. */
  readonly baseMs: number
  /** The longest full delay, in milliseconds. */
  readonly capMs: number
  /** Ratio of each full delay to the one before. */
  readonly factor: number
  /** The share of each delay that is random. */
  readonly jitter: number
}
const DEFAULTS: BackoffOptions = { baseMs: 1_000, capMs: 60_000, factor: 2, jitter: 0.5 }

/**
 * Jittered exponential backoff after the given number of failures (from 1), in whole milliseconds: by default from half of
 * the full delay to all of it, as `random` grows from 0 to 1.
 */
export function backoffMs(failures: number, random: number, options: Partial<BackoffOptions> = {}): number {
  const { baseMs, capMs, factor, jitter } = { ...DEFAULTS, ...options }
  const full = Math.min(capMs, baseMs * factor ** Math.max(0, failures - 1))
  return Math.round(full * (1 - jitter * (1 - random)))
}
