import { check, type HealthCheck } from '../../core/health.ts'
import type { Drain } from '../limits/drain.ts'

/** Milliseconds for which one measurement answers all probes. */
const FRESH_MS = 1_000

/** Decides whether this process should get work; any number of probes costs one measurement. */
export class Readiness {
  readonly #drain: Drain
  #measure: (() => Promise<readonly HealthCheck[]>) | null = null
  #measured: Promise<readonly HealthCheck[]> | null = null

  constructor(drain: Drain) {
    this.#drain = drain
  }

  /** From now on it is as ready as this says. It must not reject. */
  started(measure: () => Promise<readonly HealthCheck[]>): void {
    this.#measure = measure
  }

  async check(): Promise<readonly HealthCheck[]> {
    // Parts are not measured while they shut down.
    const measured = this.#measure && !this.#drain.hasBegun ? await this.#share(this.#measure) : []
    // Neither may be late by the age of a measurement.
    return [
      check('started', this.#measure === null && 'the process is starting'),
      check('draining', this.#drain.hasBegun && 'the process is shutting down'),
      ...measured,
    ]
  }

  #share(measure: () => Promise<readonly HealthCheck[]>): Promise<readonly HealthCheck[]> {
    this.#measured ??= measure().finally(() => {
      setTimeout(() => {
        this.#measured = null
      }, FRESH_MS).unref()
    })
    return this.#measured
  }
}
