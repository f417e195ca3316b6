/** The undone failures that the person at this browser has seen: up to this sequence of the log. */
const KEY = 'phaseline.seen-failures'

export function seenFailures(): number {
  const seen = Number(localStorage.getItem(KEY) ?? 0)
  return Number.isSafeInteger(seen) ? seen : 0
}

export const markFailuresSeen = (sequence: number): void => localStorage.setItem(KEY, String(sequence))
