import { createHash } from 'node:crypto'

/** Decisions that depend on the seed, on what is decided and on how often it was before: not on what runs beside. */
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
    // What never happens is not counted, either: so one rate does not change what another one brings.
    return rate > 0 && this.number(what) < rate
  }
}
