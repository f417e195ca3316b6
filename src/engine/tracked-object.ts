import type { ObjectFailure } from '../core/errors.ts'
import type { Machine, Step } from '../core/machine.ts'
import { type ChildCounts, NO_CHILD_COUNTS, type Node, type ObjectRow, type Work } from '../core/tree.ts'
import type { Actor, Phase } from '../core/vocabulary.ts'
import type { LoadedNode } from '../store/load-nodes.ts'

/** What tells a new object from its siblings and places it in its tree. */
export type ObjectPlace = Pick<
  ObjectRow,
  'id' | 'rootId' | 'parentId' | 'projectId' | 'kind' | 'name' | 'ordinal' | 'waitingFor'
>

/** One object in memory: as it is now, and which parts of it the store does not have yet. */
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
  /** As the store has them, or will have once it has what was sent to it: the next write is compared with these. */
  persistedRow: ObjectRow
  persistedWork: Work | null
  /** Phases since the last write, in order: the store sees each transition. */
  pendingTransitions: { phase: Phase; at: Date; revision: number }[] = []
  spec: unknown = undefined
  labels: Readonly<Record<string, string>> = {}
  dependencies: readonly TrackedObject[] | null = null
  readonly dirty = new Set<Part>()
  /** Work that is new to agents gets a new place in their queue. */
  offered = false
  /** The last verdict of the guard on this object, until it moves. */
  judged: { machine: Machine; from: Phase; actor: Actor; to: Phase; verdict: Step } | null = null

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

  /** An object that the store does not have. */
  static fresh(row: ObjectRow): TrackedObject {
    const empty = { childCounts: NO_CHILD_COUNTS, work: null, error: null, hasProgress: false, details: null }
    return new TrackedObject({ row, ...empty }, false)
  }

  static created(place: ObjectPlace, initial: Phase, now: Date): TrackedObject {
    return TrackedObject.fresh({
      ...place,
      phase: initial,
      phaseSince: now,
      revision: 1,
      generation: 1,
      observedGeneration: 0,
      jobId: null,
      finishedJobId: null,
      deletionRequestedAt: null,
      createdAt: now,
      updatedAt: now,
    })
  }
}

/** The parts of an object that are written by statements of their own. */
export type Part = 'row' | 'childCounts' | 'work' | 'status' | 'details' | 'spec' | 'edges'
