import { pause } from '../../client/pause.ts'

const FIRST_MS = 250
const LAST_MS = 2_000
/** A wait takes hardly longer than it has to: a pause is at most this part of the time so far. */
const SHARE = 0.05

/**
 * Calls `isDone` until it is true, with pauses that grow. @throws the reason of the signal once that has aborted
 * @param nextMs an upper bound of the next pause
 */
export async function pollUntil(
  isDone: () => Promise<boolean>,
  signal: AbortSignal,
  nextMs: () => number = () => LAST_MS,
): Promise<void> {
  const since = performance.now()
  while (!(await isDone())) {
    const share = (performance.now() - since) * SHARE
    await pause(Math.min(LAST_MS, Math.max(FIRST_MS, share), nextMs()), signal)
    signal.throwIfAborted()
  }
}
