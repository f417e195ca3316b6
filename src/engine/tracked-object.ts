import type { ObjectFailure } from '../core/errors.ts'
import type { Machine, Step } from '../core/machine.ts'
import { type ChildCounts, NO_CHILD_COUNTS, type Node, type ObjectRow, type Work } from '../core/tree.ts'
import type { Actor, Phase } from '../core/vocabulary.ts'
import type { LoadedNode } from '../store/load-nodes.ts'

/** Identity of a new object and its place in the tree. */
export type ObjectPlace = Pick<
  ObjectRow,
  'id' | 'rootId' | 'parentId' | 'projectId' | 'kind' | 'name' | 'ordinal' | 'waitingFor'
>

/** One object in memory, and which of its parts the store does not have yet. */
export class TrackedObject implements Node {
  row: ObjectRow
  childCounts: ChildCounts
  work: Work | null
  error: ObjectFailure | null
  progress: unknown = undefined
  hasProgress: boolean
  clock: Date | null
  details: unknown
  gone = false

  /** The store has it. */
  persisted: boolean
  /** Row and work as of the last sent write, with which the next write is compared. */
  persistedRow: ObjectRow
  persistedWork: Work | null
  /** Transitions since the last write, in order. The store checks each of them. */
  pendingTransitions: { phase: Phase; at: Date; revision: number }[] = []
  spec: unknown = undefined
  labels: Readonly<Record<string, string>> = {}
  dependencies: readonly TrackedObject[] | null = null
  readonly dirty = new Set<Part>()
  /** True if work was newly offered, which gives it a new place in the queue. */
  offered = false
  /** The last verdict of the guard on this object, until it moves. */
  judged: { machine: Machine; from: Phase; actor: Actor; to: Phase; verdict: Step } | null = null

  constructor(loaded: LoadedNode, persisted: boolean) {
    this.row = loaded.row
    this.childCounts = loaded.childCounts
    this.work = loaded.work
    this.error = loaded.error
    this.hasProgress = loaded.hasProgress
    this.clock = loaded.clock
    this.details = loaded.details
    this.persisted = persisted
    this.persistedRow = loaded.row
    this.persistedWork = loaded.work
  }

  /** Tracks an object that the store does not have. */
  static fresh(row: ObjectRow): TrackedObject {
    const empty = {
      childCounts: NO_CHILD_COUNTS,
      work: null,
      error: null,
      hasProgress: false,
      clock: null,
      details: null,
    }
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
export type Part = 'row' | 'childCounts' | 'work' | 'clock' | 'status' | 'details' | 'spec' | 'edges'
