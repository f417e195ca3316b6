import type { KeyObject } from 'node:crypto'
import { Frontier } from '../../seal/merkle.ts'
import { isSignedBy, keyIdOf, type Seal } from '../../seal/seal.ts'

/** Verifies seals by themselves, and against heads that were kept elsewhere. */

export interface SealProblem {
  /** The first sequence that is in doubt. */
  readonly sequence: number
  readonly problem: 'SEAL_MISSING' | 'SEAL_CHANGED' | 'UNKNOWN_KEY' | 'NOT_SIGNED' | 'REWRITTEN' | 'CUT' | 'LOST'
  readonly what: string
}

/** By their ids; empty: signatures are not verified. */
export type Keys = ReadonlyMap<string, KeyObject>
export const keysOf = (keys: readonly KeyObject[]): Keys => new Map(keys.map((key) => [keyIdOf(key), key]))

/** Null, or why nobody with one of the keys has signed it. */
export function signatureProblem(seal: Seal, keys: Keys): SealProblem | null {
  const { size, first: sequence, key: id } = seal
  if (keys.size === 0) return null
  const key = keys.get(id)
  if (!key)
    return { sequence, problem: 'UNKNOWN_KEY', what: `the key ${id} of the seal ${size} is none of those given` }
  if (isSignedBy(seal, key)) return null
  return { sequence, problem: 'NOT_SIGNED', what: `the key ${id} has not signed the seal ${size}` }
}

/** Seals in their order, from the first one on. */
export class SealChain {
  readonly #frontier = new Frontier()
  #end: Seal | null = null

  get end(): Seal | null {
    return this.#end
  }

  /** Null: it follows; its root is that of the leaves up to it. */
  add(seal: Seal): SealProblem | null {
    const end = this.#end
    const { size, first, last, log, epoch, base } = seal
    const sequence = Math.min(first, (end?.last ?? first - 1) + 1)
    const expected = (end?.size ?? 0) + 1
    const wrong = (what: string): SealProblem => ({ sequence, problem: 'SEAL_CHANGED', what })
    if (size !== expected)
      return { sequence, problem: 'SEAL_MISSING', what: `the seal ${size} is in the place of ${expected}` }
    if (first > last || first <= (end?.last ?? 0)) return wrong(`the seal ${size} is of ${first} to ${last}`)
    if (end && (epoch < end.epoch || (epoch === end.epoch) !== (log === end.log) || base > last))
      return wrong(`the seal ${size} is of epoch ${epoch} with the base ${base}, after epoch ${end.epoch}`)
    this.#frontier.append(Buffer.from(seal.leaf, 'hex'))
    if (this.#frontier.root() !== seal.root) return wrong(`the root of the seal ${size} is not that of its leaves`)
    this.#end = seal
    return null
  }
}

/** The first problem of seals that begin with the first one of the log. */
export function verifySeals(seals: readonly Seal[], keys: Keys): SealProblem | null {
  const chain = new SealChain()
  for (const seal of seals) {
    const problem = chain.add(seal) ?? signatureProblem(seal, keys)
    if (problem) return problem
  }
  return null
}

/** Ends of history that were sealed, and are not in this log: a restore or a failover has lost them. */
export interface Lost {
  readonly epoch: number
  readonly from: number
  readonly through: number
}

/** Compares heads that were kept elsewhere with the seals of the log, which are verified: each is in this history, or says what is not. */
export function compareHeads(
  heads: readonly Seal[],
  seals: readonly Seal[],
  keys: Keys,
): SealProblem | readonly Lost[] {
  const lost = new Map<number, Lost>()
  for (const head of heads) {
    const { size, epoch, first, last, root, signature } = head
    const here = seals[size - 1]
    const isHere = here?.root === root && here.last === last
    const problem = isHere && here.signature === signature ? null : signatureProblem(head, keys)
    if (problem) return problem
    if (isHere) continue
    const common = seals.findLast((seal) => seal.epoch <= epoch)
    if (common && size <= common.size)
      return { sequence: first, problem: 'REWRITTEN', what: `the head ${size} that was kept is of another history` }
    const from = (common?.last ?? 0) + 1
    if (common === seals.at(-1))
      return {
        sequence: from,
        problem: 'CUT',
        what: `a head that was kept seals ${last}, and the seals end at ${from - 1}`,
      }
    const before = lost.get(epoch)
    lost.set(epoch, { epoch, from: before?.from ?? from, through: Math.max(before?.through ?? 0, last) })
  }
  return [...lost.values()]
}
