import type { PhaseChangeQuery, PhaseChangeRecord, WrittenBatch } from './phase-change.ts'

/** What the API and the streams ask of the log. */

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
