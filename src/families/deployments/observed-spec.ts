import type { Node, ObjectRow, Slice } from '../../core/tree.ts'
import type { Phase } from '../../core/vocabulary.ts'
import type { InstallationSpec } from './spec.ts'

/**
 * A job works from the spec of the generation that it observed on entering INIT. Only a root's spec is edited while its job
 * runs: a nested one is written by its parent, and that only while it is finished.
 */

/** Phases in which a job reads the spec that it observed: it marks orphans and writes children. COMPLETING refuses an edited one. */
const READING: readonly Phase[] = ['INIT', 'CLEANUP_ORPHANED']

/** An edit must leave the present spec to the job that works from it; a further edit finds that done. */
export const isObserved = ({ phase, generation, observedGeneration }: ObjectRow): boolean =>
  READING.includes(phase) && generation === observedGeneration

export interface SnapshotKey {
  readonly id: string
  readonly generation: number
}

/** What the running job works from, whatever was edited since it began. */
export function observedSpec(node: Node, slice: Slice): InstallationSpec | undefined {
  const { id, generation, observedGeneration } = node.row
  if (generation === observedGeneration) return slice.spec(node) as InstallationSpec | undefined
  const key: SnapshotKey = { id, generation: observedGeneration }
  const snapshot = slice.ask<InstallationSpec | null>('specSnapshot', key)
  // A job that was edited before snapshots existed has none: it goes on with what there is.
  return snapshot === null ? (slice.spec(node) as InstallationSpec | undefined) : snapshot
}
