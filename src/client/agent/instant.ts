/**
 * A point in time by two clocks that nobody can set, in milliseconds: `monotonic` stops while the machine sleeps, `uptime`
 * does not, and may be as coarse as a second. The wall clock is neither: it may be set at any time.
 */
export interface Instant {
  readonly monotonic: number
  readonly uptime: number
}

/** A smaller difference is no sleep but the error of a clock in whole seconds. */
const SLEPT_MS = 1_000

/** Without such a clock, as in a browser, sleep goes unnoticed. */
const { process } = globalThis as { process?: NodeJS.Process }
const os = process?.getBuiltinModule?.('node:os')

export function instant(): Instant {
  const monotonic = performance.now()
  return { monotonic, uptime: os ? os.uptime() * 1_000 : monotonic }
}

export const later = ({ monotonic, uptime }: Instant, ms: number): Instant => ({
  monotonic: monotonic + ms,
  uptime: uptime + ms,
})

/** Milliseconds from `then` to `now`, including the machine's sleep. */
export function ageOf(then: Instant, now: Instant): number {
  const awake = now.monotonic - then.monotonic
  const slept = now.uptime - then.uptime - awake
  return slept < SLEPT_MS ? awake : awake + slept
}
