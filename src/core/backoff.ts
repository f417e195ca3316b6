export interface BackoffOptions {
  readonly baseMs: number
  readonly capMs: number
  readonly factor: number
}
const DEFAULTS: BackoffOptions = { baseMs: 1_000, capMs: 60_000, factor: 2 }

/** Jittered exponential backoff after so many failures (from 1), in milliseconds: between half and all of the full delay. */
export function backoffMs(failures: number, random: number, options: Partial<BackoffOptions> = {}): number {
  const { baseMs, capMs, factor } = { ...DEFAULTS, ...options }
  const full = Math.min(capMs, baseMs * factor ** Math.max(0, failures - 1))
  return Math.round(full / 2 + (random * full) / 2)
}
