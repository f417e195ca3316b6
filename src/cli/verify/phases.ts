import { GONE, SLOTS, UNMOVED } from './published-guard.ts'

/** The phases of an object in each machine of its kind, a byte each. */
export const UNMOVED_IN_ALL = Array.from({ length: SLOTS }).reduce<number>((all) => (all << 8) | UNMOVED, 0)
export const phaseIn = (phases: number, slot: number): number => (phases >>> (slot * 8)) & 0xff
export const withPhase = (phases: number, slot: number, phase: number): number =>
  (phases & ~(0xff << (slot * 8))) | (phase << (slot * 8))

/** The words of an entry: the id, the phases, the revision. */
const WORDS = 6
const LEAST = 1_024
/** No phases of an object. */
const EMPTY = 0
const USED = 1 << 24

/** Objects by their ids, each with its phases and its revision, in 24 bytes: a log may have some millions of them. */
export class Phases {
  #words: Uint32Array = new Uint32Array(LEAST * WORDS)
  #used = 0

  /** Null: there is no such object, or none any more. */
  get(id: Uint32Array): { readonly phases: number; readonly revision: number } | null {
    const at = this.#find(id)
    const phases = this.#words[at + 4] as number
    return phases === EMPTY ? null : { phases: phases & ~USED, revision: this.#words[at + 5] as number }
  }

  set(id: Uint32Array, phases: number, revision: number): void {
    const at = this.#find(id)
    if (this.#words[at + 4] === EMPTY) this.#used += 1
    this.#words.set(id, at)
    this.#words[at + 4] = phases | USED
    this.#words[at + 5] = revision
    if (this.#used * WORDS * 4 > this.#words.length * 3) this.#rebuild()
  }

  /** Its place, or that where it would be. */
  #find(id: Uint32Array): number {
    const words = this.#words
    const [a = 0, b = 0, c = 0, d = 0] = id
    const capacity = words.length / WORDS
    // The last words of an id of version 7 are random.
    for (let slot = (c ^ d) >>> 0; ; slot += 1) {
      const at = (slot % capacity) * WORDS
      if (words[at + 4] === EMPTY) return at
      if (words[at + 3] === d && words[at + 2] === c && words[at + 1] === b && words[at] === a) return at
    }
  }

  /** Objects that are gone are forgotten. */
  #rebuild(): void {
    const old = this.#words
    const kept: number[] = []
    for (let at = 0; at < old.length; at += WORDS) {
      const phases = old[at + 4] as number
      if (phases !== EMPTY && phaseIn(phases, 0) !== GONE) kept.push(at)
    }
    let capacity = LEAST
    while (capacity < kept.length * 2) capacity *= 2
    this.#words = new Uint32Array(capacity * WORDS)
    this.#used = kept.length
    for (const at of kept) this.#words.set(old.subarray(at, at + WORDS), this.#find(old.subarray(at, at + 4)))
  }
}
