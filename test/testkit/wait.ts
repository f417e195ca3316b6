import { setTimeout as delay } from 'node:timers/promises'

export interface UntilOptions {
  readonly what: string
  readonly timeoutMs?: number
}

/** Waits for a condition, with a limit. Returns its value. */
export async function until<T>(
  find: () => Promise<T> | T,
  { what, timeoutMs = 30_000 }: UntilOptions,
): Promise<NonNullable<T>> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const found = await find()
    if (found) return found as NonNullable<T>
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await delay(10)
  }
}
