import type { ObjectFailure } from '../core/errors.ts'
import { type ChildCounts, NO_CHILD_COUNTS, type Node, type ObjectRow, type Work } from '../core/tree.ts'
import type { Phase } from '../core/vocabulary.ts'
import type { LoadedNode } from '../store/load-nodes.ts'

/** One object in memory: as it is now, and what of it the store does not know yet. */
export class TrackedObject implements Node {
  row: ObjectRow
  childCounts: ChildCounts
  work: Work | null
  error: ObjectFailure | null
  progress: unknown = undefined
  hasProgress: boolean
  details: unknown
  gone = false

  /** The store has it. */
  persisted: boolean
  /** What the store has, or will have once it has what was sent to it: what the next write is compared with. */
  persistedRow: ObjectRow
  persistedWork: Work | null
  /** Phases gone through since the last write, in order: the store is told each hop. */
  pendingTransitions: { phase: Phase; at: Date; revision: number }[] = []
  spec: unknown = undefined
  labels: Readonly<Record<string, string>> = {}
  dependencies: readonly TrackedObject[] | null = null
  readonly dirty = new Set<Part>()
  /** Work that is new to agents gets a new place in their queue. */
  offered = false

  constructor(loaded: LoadedNode, persisted: boolean) {
    this.row = loaded.row
    this.childCounts = loaded.childCounts
    this.work = loaded.work
    this.error = loaded.error
    this.hasProgress = loaded.hasProgress
    this.details = loaded.details
    this.persisted = persisted
    this.persistedRow = loaded.row
    this.persistedWork = loaded.work
  }

  static fresh(row: ObjectRow): TrackedObject {
    return new TrackedObject(
      { row, childCounts: NO_CHILD_COUNTS, work: null, error: null, hasProgress: false, details: null },
      false,
    )
  }
}

/** The parts of an object that are written by statements of their own. */
export type Part = 'row' | 'childCounts' | 'work' | 'status' | 'details' | 'spec' | 'edges'
