import { createHash } from 'node:crypto'

/** Decisions that depend on the seed, on the subject and on how often it was decided before, not on other work. */
export class Chance {
  readonly #seed: string
  readonly #times = new Map<string, number>()

  constructor(seed: string) {
    this.#seed = seed
  }

  /** From 0 to below 1. */
  number(what: string): number {
    const times = (this.#times.get(what) ?? 0) + 1
    this.#times.set(what, times)
    const hash = createHash('sha256')
      .update(JSON.stringify([this.#seed, what, times]))
      .digest()
    return hash.readUInt32BE(0) / 2 ** 32
  }

  hits(rate: number, what: string): boolean {
    // A rate of 0 is not counted, so that one rate does not change the decisions of another.
    return rate > 0 && this.number(what) < rate
  }
}
