import type { Node, ObjectRow, Slice } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { InstallationSpec } from './spec.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    specSnapshot: { readonly args: SnapshotKey; readonly answer: InstallationSpec | null }
  }
}

/**
 * A job uses the spec of the generation that it observed on entering INIT. Only a root's spec can change while its job
 * runs: the spec of a nested installation is written by its parent, and only while the nested one is finished.
 */

/** Phases in which a job reads the observed spec to mark orphans and write children. COMPLETING refuses a changed spec. */
const READING: readonly Phase[] = ['INIT', 'CLEANUP_ORPHANED']

/** An edit has to keep a snapshot of the spec that the running job uses, unless an earlier edit has kept one. */
export const isObserved = ({ phase, generation, observedGeneration }: ObjectRow): boolean =>
  READING.includes(phase) && generation === observedGeneration

export interface SnapshotKey {
  readonly id: string
  readonly generation: number
}

/** The spec that the running job observed, whatever was edited since. */
export function observedSpec(node: Node, slice: Slice): InstallationSpec | undefined {
  const { id, generation, observedGeneration } = node.row
  if (generation === observedGeneration) return slice.spec(node) as InstallationSpec | undefined
  const key: SnapshotKey = { id, generation: observedGeneration }
  const snapshot = slice.ask('specSnapshot', key)
  // A job from before snapshots existed has none and uses the present spec.
  return snapshot === null ? (slice.spec(node) as InstallationSpec | undefined) : snapshot
}
