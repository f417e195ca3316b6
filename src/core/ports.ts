import type { Refusal } from './errors.ts'
import type { ObjectRow } from './tree.ts'
import type { Actor, LockMode, ObjectKind, Phase, WorkAction } from './vocabulary.ts'

/** The seams between the layers: what the API asks of the engine, the log and the clock. Types only. */

/** Who is calling, as the credentials say. */
export interface Viewer {
  readonly tokenId: string
  /** Recorded as `by` of every phase change. */
  readonly name: string
  readonly role: 'ADMIN' | 'USER' | 'READER' | 'AGENT' | 'WORKER'
  readonly actor: Actor
  /** Names of the projects that it may see; null means all. */
  readonly projects: readonly string[] | null
  /** What an agent may claim; null means all. */
  readonly types: readonly string[] | null
  readonly targets: readonly string[] | null
  /** A worker: the event that it works for, the root of its tree. */
  readonly eventId?: string
}

export type Outcome<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly refusal: Refusal }

/** What a command has written. */
export interface WrittenObject {
  readonly objectId: string
  /** Where the command knows all of it: it need not be read to be shown. */
  readonly object?: { readonly row: ObjectRow }
}

/** Clock, ids and randomness come in through here and nowhere else, so that every deadline can be tested to the millisecond. */
export interface System {
  /** By the database's clock, as well as this process knows it: what leases and deadlines are judged by a statement asks. */
  now(): Date
  /** What statements are to take for the time. Null, as always outside of tests: the database's own clock. */
  readonly fixedTime: Date | null
  /** A uuid v7: grows with time. */
  id(): string
  /** In [0, 1). */
  random(): number
  /** Unguessable bytes. */
  secret(bytes: number): Uint8Array
}

/** One record of the log. `sequence` is dense, from 1, in commit order. */
export interface PhaseChangeRecord {
  readonly sequence: number
  readonly batchId: string
  readonly idx: number
  readonly objectId: string
  readonly rootId: string
  readonly parentId: string | null
  readonly projectName: string
  readonly kind: ObjectKind
  readonly name: string
  readonly machine: string
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly by: string | null
  readonly reason: string | null
  readonly message: string | null
  readonly jobId: string | null
  readonly revision: number | null
  readonly rejected: boolean
  readonly at: Date
}

/** A record that has not got its place in the log yet. */
export type Change = Omit<PhaseChangeRecord, 'sequence' | 'batchId' | 'idx'>

/** The changes of one transaction, as they were written; not numbered yet. */
export interface WrittenBatch {
  readonly id: string
  readonly changes: readonly Change[]
}

/** By the log's own immutable columns only, so that live and replay agree. */
export interface PhaseChangeQuery {
  /** What the viewer may read; null means everything. */
  readonly projects: readonly string[] | null
  readonly project?: string | undefined
  readonly rootId?: string | undefined
  readonly objectId?: string | undefined
  readonly kinds?: readonly ObjectKind[] | undefined
  readonly to?: readonly Phase[] | undefined
  readonly includeRejected: boolean
}

/** A place in the log, as its reader keeps it: everything up to `sequence` is known there. */
export interface LogCursor {
  readonly sequence: number
  /**
   * Of the change at `sequence`: no other log has the same one there. Null: a bare number, which says nothing of the log
   * that it is of; or nothing comes before it.
   */
  readonly mark: string | null
}

/** A cursor that this process has found in the log. */
export interface ResolvedCursor extends LogCursor {
  /** Grows when the log turns out to be another one than before: places of an earlier lineage are looked up again. */
  readonly lineage: number
}

export interface LogBatch {
  readonly changes: readonly PhaseChangeRecord[]
  /** Resume after it; moves on even when the filter matches nothing. */
  readonly through: ResolvedCursor
}

/** What hears of the live end of the log. All three are synchronous and never throw. */
export interface LogListener {
  /** Those that match among the sequences after `after` and up to `through`; at least one, in order. */
  offer(changes: readonly PhaseChangeRecord[], after: ResolvedCursor, through: ResolvedCursor): void
  /** Once a second: all that matches, up to here, was offered. */
  tick(through: ResolvedCursor): void
  /** The live end has moved: all that matches up to `through` was offered; what comes next has to be read. */
  lost(through: ResolvedCursor): void
}

/** How the log is heard in this process, since its start. */
export interface LogStats {
  /** Counts the histories of the log: 1 until its database was restored or failed over. */
  readonly epoch: number
  readonly listeners: number
  /** Announcements that came, and those of them that told nothing new. */
  readonly announcements: number
  readonly stale: number
  /** Announcements that came after a gap, and changes that were read to fill gaps. */
  readonly gaps: number
  readonly filled: number
  /** Announcements that no process on this database has signed: they are not believed. */
  readonly unverified: number
  /** How often the live end moved, because of a pruned or restored log. */
  readonly skips: number
  /** All up to here is handed out; all up to `known` is known to be numbered. */
  readonly through: number
  readonly known: number
}

export interface Log {
  /** Ends when everything that was committed before the call is in the log: its readers then see their own writes. */
  caughtUp(): Promise<void>
  /** Throws CursorExpired when the log has not come to a place, or is another one than that the place is of. */
  reaches(place: LogCursor): Promise<void>
  /** The place at the end of the log, before what it still holds, or the last one that is in every history of it. */
  end(which: 'head' | 'floor' | 'common'): Promise<LogCursor>
  /** A page of matching records after a cursor (or before one, newest last), for queries. Throws CursorExpired. */
  page(
    query: PhaseChangeQuery,
    page: {
      after?: LogCursor | undefined
      before?: LogCursor | undefined
      limit: number
      direction: 'forward' | 'backward'
    },
  ): Promise<readonly PhaseChangeRecord[]>
  /**
   * Throws CursorExpired when what was read between two cursors cannot be all of it: something next to one is pruned, or
   * it is of another log. To be asked after the reading.
   */
  checkWindow(window: { after?: LogCursor | undefined; before?: LogCursor | undefined }): Promise<void>
  count(query: PhaseChangeQuery): Promise<number>
  /**
   * Everything after `after`, then live, without a gap and without a repetition. Without `after`: live from now on.
   * Throws CursorExpired when the cursor is not in this log.
   */
  follow(
    query: PhaseChangeQuery,
    after: LogCursor | undefined,
    maxBatch: number,
    signal: AbortSignal,
  ): AsyncIterable<LogBatch>
  /** Where a cursor is in the log as it is now; without one, the head. Throws CursorExpired. */
  place(after: LogCursor | undefined): Promise<ResolvedCursor>
  /** The same for the place of a stream that is open, which outlasts a database that is away for a while. */
  renew(place: ResolvedCursor): Promise<ResolvedCursor>
  /**
   * What matches next, at most `limit` of it; null at the live end: a listener will be offered what comes after.
   * Throws CursorExpired.
   */
  next(query: PhaseChangeQuery, place: ResolvedCursor, limit: number): Promise<LogBatch | null> | LogBatch | null
  /** Offers what matches from the live end on, wherever that is. Returns the way to stop. */
  listen(query: PhaseChangeQuery, listener: LogListener): () => void
  readonly stats: LogStats
  /**
   * Tell the numberer what is about to be committed: somebody else may number it before the commit is heard of here.
   * What is rolled back after all does no harm. Cheap, never throws.
   */
  appended(batches: readonly WrittenBatch[]): void
  /** Tell the numberer that something was committed, and what, if that was not told before. Cheap, never throws. */
  committed(batches?: readonly WrittenBatch[]): void
}

/** A cursor that is pruned, ahead of the head, of another log, or does not say of which. */
export class CursorExpired extends Error {
  readonly oldest: number
  readonly head: number
  /** @param bare it is a number, and the log has had several histories that may mean different changes by it */
  constructor(oldest: number, head: number, bare = false) {
    super(
      bare
        ? `This log was restored or failed over, so a bare sequence number does not say which of its histories is meant. Read the tree again and resume from its cursor; the log now holds ${oldest} to ${head}.`
        : `This cursor is not in the log, which now holds ${oldest} to ${head}: read the tree again and resume from its cursor.`,
    )
    this.name = 'CursorExpired'
    this.oldest = oldest
    this.head = head
  }
}

/** Wake-ups between processes: never the truth, only the fast path. */
export interface Signal {
  publish(channel: string, message: string): void
  /** Resolves once messages will arrive. Never more than one handler call at a time per subscription. */
  subscribe(channel: string, handler: (message: string) => void): Promise<{ close(): Promise<void> }>
  /** False: nothing can be heard from other processes, so poll more often. */
  readonly connected: boolean
  close(): Promise<void>
}

export interface ClaimedItem {
  readonly fence: string
  readonly objectId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly jobId: string | null
  readonly action: WorkAction
  readonly type: string
  readonly target: string | null
  readonly config: unknown
  readonly attempt: number
  readonly leaseUntil: Date
}
export interface Report {
  readonly fence: string
  readonly phase?: Phase | null | undefined
  readonly done?: boolean | undefined
  readonly message?: string | null | undefined
  readonly progress?: ReportedProgress | null | undefined
  readonly exports?: unknown
  readonly error?: { readonly code: string; readonly message: string; readonly retryable: boolean } | null | undefined
  /** What a gadget has declared to need. */
  readonly locks?: readonly DeclaredLock[] | null | undefined
}
export interface DeclaredLock {
  readonly resource: string
  readonly mode: LockMode
}
export interface ReportedProgress {
  readonly step?: string | null | undefined
  readonly value?: number | null | undefined
  readonly total?: number | null | undefined
  readonly unit?: string | null | undefined
}
export interface Renewal {
  readonly fence: string
  readonly state: 'HELD' | 'ABORT_REQUESTED' | 'LOST'
  readonly leaseUntil: Date | null
}
export interface LogLineEntry {
  readonly fence: string
  readonly at?: Date | null | undefined
  readonly stream: 'STDOUT' | 'STDERR' | 'STEP' | 'SYSTEM'
  readonly text: string
}

/** What agents ask of the engine. The viewer's token says who they are. */
export interface AgentPort {
  claim(
    viewer: Viewer,
    request: {
      instance: string
      types: readonly string[]
      targets: readonly string[] | null
      max: number
      leaseMs: number
      /** How long to wait when there is nothing, at most. */
      waitMs?: number | undefined
      /** Whoever asks has gone. */
      signal?: AbortSignal | undefined
    },
  ): Promise<Outcome<{ items: readonly ClaimedItem[]; waitedMs: number }>>
  /** Claims that wait in this process right now. */
  readonly waitingClaims: number
  /** They are answered: this process ends. */
  stopWaiting(): void
  renew(viewer: Viewer, fences: readonly string[], leaseMs: number): Promise<Outcome<{ leases: readonly Renewal[] }>>
  /** One result per report, in order. */
  report(
    viewer: Viewer,
    reports: readonly Report[],
  ): Promise<Outcome<{ results: readonly Outcome<{ objectId: string | null; changed: boolean }>[] }>>
  /** @param sentAt by the clock that the lines' times are of */
  appendLogs(
    viewer: Viewer,
    lines: readonly LogLineEntry[],
    sentAt?: Date | null,
  ): Promise<Outcome<{ accepted: number }>>
  /** How much waits to be claimed, per type; only types with something waiting. */
  waiting(
    types: readonly string[],
    targets: readonly string[] | null,
  ): Promise<readonly { type: string; waiting: number }[]>
  /** Calls back whenever work of some type may have come up. Returns the way to stop. */
  onWork(handler: (types: readonly string[]) => void): () => void
}
