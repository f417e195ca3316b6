/** Deliveries that GitHub has tried in vain, from its list of attempts. GitHub does not repeat them by itself. */

/** An attempt of a delivery, as GitHub lists it. */
export interface ListedAttempt {
  readonly id: number
  /** The same for all attempts: the id of the delivery. */
  readonly guid: string
  readonly deliveredAt: Date
  /** 0: nobody has answered. */
  readonly status: number
}

/** GitHub keeps deliveries for so long. */
export const KEPT_MS = 3 * 86_400_000
/** Attempts after which a delivery is left to a person. */
const MAX_ATTEMPTS = 5
/** One check asks for no more deliveries; the next one does. */
const MAX_ASKED = 100

/** This server was away, or could not store anything. Any other refusal would only be repeated. */
const isMissed = (status: number): boolean => status === 0 || status === 408 || status === 429 || status >= 500

/** The last attempts of deliveries that have never arrived, the oldest delivery first. */
export function missedDeliveries(listed: readonly ListedAttempt[], now: Date): readonly ListedAttempt[] {
  const since = now.getTime() - KEPT_MS
  const deliveries = Map.groupBy(
    listed.filter(({ deliveredAt }) => deliveredAt.getTime() >= since),
    ({ guid }) => guid,
  )
  return [...deliveries.values()]
    .filter((attempts) => attempts.length < MAX_ATTEMPTS && attempts.every(({ status }) => isMissed(status)))
    .map((attempts) => attempts.toSorted(byAge))
    .toSorted(([a], [b]) => (a && b ? byAge(a, b) : 0))
    .flatMap((attempts) => attempts.slice(-1))
    .slice(0, MAX_ASKED)
}
const byAge = (a: ListedAttempt, b: ListedAttempt): number =>
  a.deliveredAt.getTime() - b.deliveredAt.getTime() || a.id - b.id
