import { setTimeout as delay } from 'node:timers/promises'

/** A limit for what hangs. It is long, as machines differ by a factor of five and a test does not measure them. */
export const PATIENCE_MS = 120_000

/** Waiting looks again at first soon, later seldom: on two cores the one who waits slows down what is awaited. */
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 60
const GROWTH = 1.3

export interface UntilOptions {
  readonly what: string
  readonly timeoutMs?: number
  /** How things stand, for the message of what was waited for in vain. */
  readonly instead?: () => unknown
}

/** Waits for a condition, with a limit. Returns its value. */
export async function until<T>(
  find: () => Promise<T> | T,
  { what, timeoutMs = PATIENCE_MS, instead }: UntilOptions,
): Promise<NonNullable<T>> {
  const end = performance.now() + timeoutMs
  let pause = FIRST_PAUSE_MS
  for (;;) {
    const found = await find()
    if (found) return found as NonNullable<T>
    if (performance.now() > end) {
      const stands = instead ? `: ${JSON.stringify(await instead())}` : ''
      throw new Error(`waited ${timeoutMs} ms in vain until ${what}${stands}`)
    }
    await delay(pause)
    pause = Math.min(LONGEST_PAUSE_MS, pause * GROWTH)
  }
}
