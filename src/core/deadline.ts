/** A limit on a duration: in milliseconds, or none. */
export type Timeout = { readonly ms: number } | { readonly never: true }

/** When a timeout that started at `since` is due; null: never. */
export function expiresAt(since: Date, timeout: Timeout): Date | null {
  return 'never' in timeout ? null : new Date(since.getTime() + timeout.ms)
}

/** A deadline is due at exactly its time. */
export function isDue(limit: Date | null, now: Date): boolean {
  return limit !== null && limit.getTime() <= now.getTime()
}
