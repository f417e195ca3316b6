import type { Machine } from '../../../core/machine.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'

const wordOf = (kind: ObjectKind, phase: Phase): string => `${kind} ${phase}`

/** Kinds with their final phases, each in one text, as statements compare them. */
export function restingWords(machines: readonly Machine[]): readonly string[] {
  const primary = machines.filter(({ column }) => column === null)
  return primary.flatMap(({ kinds, final }) => kinds.flatMap((kind) => final.map((phase) => wordOf(kind, phase))))
}

/** A root that a firing has started; null: it is gone. */
export interface Started {
  readonly kind: ObjectKind | null
  readonly phase: Phase | null
  /** It has no running job. */
  readonly finished: boolean
}

/** True if nothing runs of it any more. */
export const isAtRest = ({ kind, phase, finished }: Started, resting: ReadonlySet<string>): boolean =>
  kind === null || phase === null || (finished && resting.has(wordOf(kind, phase)))

/** Says of a root whether it has ended in a phase of the class DONE. */
export function succeeds(machines: readonly Machine[]): (started: Started) => boolean {
  const primary = machines.filter(({ column }) => column === null)
  return ({ kind, phase }) =>
    phase !== null &&
    primary.some(({ kinds, classes }) => kind !== null && kinds.includes(kind) && classes.get(phase) === 'DONE')
}
