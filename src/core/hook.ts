/** Hooks as data: the forms that they receive, and the outcomes. */

/** The forms in which others post what has happened: how a request is authentic, and what one delivery is. */
export const HOOK_FORMATS = ['GITHUB', 'GITLAB', 'CLOUDEVENTS', 'STANDARD_WEBHOOKS', 'GENERIC'] as const
export type HookFormat = (typeof HOOK_FORMATS)[number]

export const DELIVERY_OUTCOMES = ['ACCEPTED', 'FILTERED', 'DUPLICATE', 'REFUSED', 'FORBIDDEN'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

/** Bytes of a body, as it arrives. */
export const MAX_HOOK_BODY = 10 * 1_024 * 1_024
/** Milliseconds within which a body arrives: GitHub waits no longer for its answer. */
export const HOOK_BODY_MS = 10_000

/** A chain of notifications and hooks that has come back so often goes no further. */
export const MAX_HOPS = 8
export const HOPS_HEADER = 'phaseline-hops'

/** The count in the header; null: it is no count, so that nobody knows where the chain began. */
export function hopsOf(header: string | undefined): number | null {
  if (header === undefined) return 0
  return /^\d{1,6}$/.test(header) ? Number(header) : null
}
