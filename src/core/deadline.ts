/** How long something may take: so many milliseconds, or as long as it likes. */
export type Timeout = { readonly ms: number } | { readonly never: true }

/** When a clock that started at `since` runs out; null: never. */
export function expiresAt(since: Date, timeout: Timeout): Date | null {
  return 'never' in timeout ? null : new Date(since.getTime() + timeout.ms)
}

/** At exactly the limit it fires. */
export function isDue(limit: Date | null, now: Date): boolean {
  return limit !== null && limit.getTime() <= now.getTime()
}
