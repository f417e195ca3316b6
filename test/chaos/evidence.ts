import type { Actor, ObjectKind, Phase } from '../../src/core/vocabulary.ts'

/**
 * All that the checker of a chaos run reads: the log and tables of the database, what agents and gadgets wrote down
 * themselves, what readers received, and what users were told. Times (`…Ms`) are of the machine's monotonic clock, which
 * all processes of a run share, whatever their wall clocks say.
 */
export interface Evidence {
  readonly log: readonly LoggedChange[]
  readonly objects: readonly StoredObject[]
  /** Resources of jobs, from their specs. */
  readonly declared: ReadonlyMap<string, readonly DeclaredLock[]>
  /** Locks that are still held or waited for. */
  readonly locks: readonly { readonly objectId: string; readonly resource: string }[]
  readonly accepted: readonly AcceptedCreation[]
  readonly readers: readonly ReaderRecord[]
  /** Work of deployers, as their own processes wrote it down. */
  readonly spans: readonly WorkSpan[]
  /** Lines of gadgets, in the order in which they were written into one file. */
  readonly gadgets: readonly GadgetLine[]
  /** Ids of workers, once for each time that one was started. */
  readonly starts: readonly string[]
  /** Of workers: the most that may run at a time. */
  readonly maxWorkers: number
  /** What deployers have installed and not removed, by object. */
  readonly installed: readonly string[]
  /** What runtimes have left in their folders. */
  readonly leftovers: readonly string[]
  readonly edge: { readonly recorded: readonly string[]; readonly found: readonly string[] }
  readonly faults: readonly PerformedFault[]
}

export interface LoggedChange {
  readonly sequence: number
  readonly objectId: string
  readonly rootId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly machine: string
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly rejected: boolean
}
export interface StoredObject {
  readonly id: string
  readonly rootId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly phase: Phase
}
export interface DeclaredLock {
  readonly resource: string
  readonly exclusive: boolean
}
/** A creation that a user was told to be done. */
export interface AcceptedCreation {
  readonly id: string
  readonly kind: ObjectKind
  readonly name: string
  readonly answeredMs: number
}
/** What one reader received: a part begins when the reader is told that its place is gone. */
export interface ReaderRecord {
  readonly name: string
  readonly parts: readonly (readonly LoggedChange[])[]
}
export interface WorkSpan {
  readonly objectId: string
  readonly jobId: string | null
  readonly process: string
  readonly action: string
  readonly fromMs: number
  /** Infinity: it never said so, e.g. since it was killed. */
  readonly toMs: number
}
export interface GadgetLine {
  readonly did: 'RUN' | 'END' | 'UNDO' | 'CONFLICT'
  /** `task/job`. */
  readonly job: string
  readonly atMs: number
}
export interface PerformedFault {
  readonly kind: string
  /** The process or server that had it. */
  readonly target: string
  readonly fromMs: number
  readonly toMs: number
}

/** From the copy of the database to the switch to that copy: what was done in between is lost, and readers are told. */
export const failovers = ({ faults }: Pick<Evidence, 'faults'>): readonly PerformedFault[] =>
  faults.filter(({ kind }) => kind === 'failover')

export const isWithin = (atMs: number, { fromMs, toMs }: Pick<PerformedFault, 'fromMs' | 'toMs'>): boolean =>
  atMs >= fromMs && atMs <= toMs
