/**
 * When something was, by two clocks that nobody sets, in milliseconds: one stands still while the machine sleeps, the other
 * goes on, and may be as coarse as a second. The wall clock is none of them: it may be set at any time.
 */
export interface Instant {
  readonly monotonic: number
  readonly uptime: number
}

/** Less is no sleep: it is what a clock in whole seconds is wrong by. */
const SLEPT_MS = 1_000

/** Where there is no such clock, as in a browser, sleep goes unnoticed. */
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

/** How long ago it was, with what the machine has slept since. */
export function ageOf(then: Instant, now: Instant): number {
  const awake = now.monotonic - then.monotonic
  const slept = now.uptime - then.uptime - awake
  return slept < SLEPT_MS ? awake : awake + slept
}
