import type { Actor, ObjectKind, Phase } from '../vocabulary.ts'

/** Records of the log, and what selects among them. Types only. */

/** One record of the log. `sequence` is dense, from 1, in commit order. */
export interface PhaseChangeRecord {
  readonly sequence: number
  readonly batchId: string
  readonly idx: number
  readonly objectId: string
  readonly rootId: string
  readonly parentId: string | null
  /**
   * The names from the root down to the parent, divided by `/`; empty for a root. Null: a change of an earlier release.
   */
  readonly parentPath: string | null
  /** Null: a change of an earlier release, of a project that is gone. */
  readonly projectId: string | null
  readonly projectName: string
  readonly kind: ObjectKind
  readonly name: string
  readonly machine: string
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly by: string | null
  /** Id of the principal; null for the engine, and for changes of earlier releases. */
  readonly byId: string | null
  readonly reason: string | null
  readonly message: string | null
  readonly jobId: string | null
  readonly revision: number | null
  readonly rejected: boolean
  readonly at: Date
}

/** A record without its position in the log. */
export type Change = Omit<PhaseChangeRecord, 'sequence' | 'batchId' | 'idx'>

/** The changes of one transaction, not numbered yet. */
export interface WrittenBatch {
  readonly id: string
  readonly changes: readonly Change[]
  /** The place of the transaction in a sampled trace, as a `traceparent`. */
  readonly traceparent?: string | null
}

/** By the log's own immutable columns only, so that live and replay agree. */
export interface PhaseChangeQuery {
  /** Ids of the projects that the viewer may read; null: all. */
  readonly projects: readonly string[] | null
  /** By its name at the time of the change. */
  readonly project?: string | undefined
  readonly rootId?: string | undefined
  readonly objectId?: string | undefined
  readonly kinds?: readonly ObjectKind[] | undefined
  readonly to?: readonly Phase[] | undefined
  readonly actors?: readonly Actor[] | undefined
  /** At or after this time. */
  readonly since?: Date | undefined
  /** Before this time. */
  readonly until?: Date | undefined
  /** Texts that the record must all contain, as `wordsOf` makes them. */
  readonly words?: readonly string[] | undefined
  readonly includeRejected: boolean
  readonly onlyRejected?: boolean | undefined
}
