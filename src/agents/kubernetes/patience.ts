/** Limits how long a pod may have a transient problem, by this process's clock, since the cluster's may differ. */
export class Patience<K extends string> {
  readonly #limits: Readonly<Record<K, number>>
  #since: { readonly kind: K; readonly at: number } | null = null

  /** @param limits in milliseconds */
  constructor(limits: Readonly<Record<K, number>>) {
    this.#limits = limits
  }

  get remainingMs(): number {
    if (!this.#since) return Number.POSITIVE_INFINITY
    return Math.max(0, this.#since.at + this.#limits[this.#since.kind] - performance.now())
  }

  /** The problem, if it has lasted too long. */
  judge<P extends { readonly kind: K }>(problem: P | null): P | null {
    if (problem?.kind !== this.#since?.kind) this.#since = problem && { kind: problem.kind, at: performance.now() }
    return problem && this.remainingMs === 0 ? problem : null
  }
}
