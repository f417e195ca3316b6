/** Why a gateway has refused a client, or has cut it off. */
const REASONS = ['UNAUTHENTICATED', 'FORBIDDEN', 'TOO_LARGE', 'TOO_MANY_SOCKETS', 'INIT_TIMEOUT', 'TOO_SLOW'] as const
export type RefusalReason = (typeof REASONS)[number]

/** Counts since the start of the process, for metrics. */
export class Refusals {
  readonly #counts = new Map<RefusalReason, number>(REASONS.map((reason) => [reason, 0]))

  count(reason: RefusalReason): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1)
  }
  get counts(): ReadonlyMap<RefusalReason, number> {
    return this.#counts
  }
}
