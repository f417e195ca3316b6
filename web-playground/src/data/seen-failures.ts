/** The failures that the person at this browser has seen: up to this time, of one project or of all. */
const keyOf = (project: string | null): string => `phaseline.seen-failures${project === null ? '' : `.${project}`}`

const stored = (project: string | null): number => {
  const seen = Number(localStorage.getItem(keyOf(project)) ?? 0)
  return Number.isSafeInteger(seen) ? seen : 0
}

/** In milliseconds since 1970. @param project null: all */
export const seenFailures = (project: string | null): number => Math.max(stored(project), stored(null))

export const markFailuresSeen = (project: string | null, until: number): void =>
  localStorage.setItem(keyOf(project), String(until))
