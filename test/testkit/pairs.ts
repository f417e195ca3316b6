import type { Machine } from '../../src/core/machine.ts'
import type { Actor, Phase } from '../../src/core/vocabulary.ts'

/** Every pair of phases of a machine. */
export const pairsOf = (machine: Machine): readonly { readonly from: Phase; readonly to: Phase }[] =>
  machine.phases.flatMap((from) => machine.phases.map((to) => ({ from, to })))

export const isAllowed = (machine: Machine, from: Phase, actor: Actor, to: Phase): boolean =>
  machine.transitions.some((row) => row.from === from && row.actor === actor && row.to === to)
