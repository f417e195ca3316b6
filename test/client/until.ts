import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until the condition holds, at most `limitMs`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
    await sleep(5)
  }
}
