import type { PhaseChangeQuery, PhaseChangeRecord, WrittenBatch } from './phase-change.ts'

/** The log as the API and the streams use it. */

/** A position in the log: its reader has everything up to `sequence`. */
export interface LogCursor {
  readonly sequence: number
  /**
   * Mark of the change at `sequence`, which no other log has there. Null: a bare number, which does not name its log; or
   * the beginning of the log.
   */
  readonly mark: string | null
}

/** A cursor that this process has resolved in the log. */
export interface ResolvedCursor extends LogCursor {
  /** Grows when the log was replaced: cursors of an earlier lineage are resolved again. */
  readonly lineage: number
}

export interface LogBatch {
  readonly changes: readonly PhaseChangeRecord[]
  /** Resume after it; it advances even when no change matches. */
  readonly through: ResolvedCursor
}

/** Receives the live end of the log. All three methods are synchronous and never throw. */
export interface LogListener {
  /** The matches after `after` and up to `through`; at least one, in order. */
  offer(changes: readonly PhaseChangeRecord[], after: ResolvedCursor, through: ResolvedCursor): void
  /** Once a second: every match up to `through` was offered. */
  tick(through: ResolvedCursor): void
  /** The live end has moved: every match up to `through` was offered; the next ones must be read. */
  lost(through: ResolvedCursor): void
}

/** A page of the log. */
export interface LogPage {
  /** The matches that were found, oldest first. */
  readonly changes: readonly PhaseChangeRecord[]
  /**
   * The position at which the search stopped before the page was full: `changes` has every match up to it (or back to
   * it, that change included); resume after (or before) it. Null: the page is full, or the list has ended.
   */
  readonly reached: LogCursor | null
}

/** Counters of the log in this process, since its start. */
export interface LogStats {
  /** Counts the histories of the log: 1 until its database was restored or failed over. */
  readonly epoch: number
  readonly listeners: number
  /** Received announcements, and those of them without a new change. */
  readonly announcements: number
  readonly stale: number
  /** Announcements after a gap, and changes that were read to fill gaps. */
  readonly gaps: number
  readonly filled: number
  /** Announcements that no process on this database has signed: they are ignored. */
  readonly unverified: number
  /** Number of times the live end moved because of a pruned or restored log. */
  readonly skips: number
  /** Everything up to here is delivered; everything up to `known` is known to be numbered. */
  readonly through: number
  readonly known: number
}

export interface Log {
  /** Resolves when every change committed before the call is in the log, so that its readers see their own writes. */
  caughtUp(): Promise<void>
  /** Throws CursorExpired when the log has not reached the cursor, or is another one than the cursor's. */
  requireReached(cursor: LogCursor): Promise<void>
  /** The cursor at the end of the log, before its oldest change, or the last one that every history of it contains. */
  end(which: 'head' | 'floor' | 'common'): Promise<LogCursor>
  /**
   * A page of matching records after a cursor (or before one, newest last), for queries. It looks through a bounded part of
   * the log. Throws CursorExpired.
   */
  page(
    query: PhaseChangeQuery,
    page: {
      after?: LogCursor | undefined
      before?: LogCursor | undefined
      limit: number
      direction: 'forward' | 'backward'
    },
  ): Promise<LogPage>
  /**
   * Throws CursorExpired when the records read between two cursors may be incomplete: those next to a cursor are pruned,
   * or the cursor is of another log. Called after the read.
   */
  checkWindow(window: { after?: LogCursor | undefined; before?: LogCursor | undefined }): Promise<void>
  count(query: PhaseChangeQuery): Promise<number>
  /** Resolves a cursor in the current log; without one, its head. Throws CursorExpired. */
  resolve(after: LogCursor | undefined): Promise<ResolvedCursor>
  /** Resolves the cursor of an open stream again, and waits while the database is away. Throws CursorExpired. */
  renew(cursor: ResolvedCursor): Promise<ResolvedCursor>
  /**
   * The next matches, at most `limit`; null at the live end, from where a listener is offered the following ones.
   * Throws CursorExpired.
   */
  next(query: PhaseChangeQuery, cursor: ResolvedCursor, limit: number): Promise<LogBatch | null> | LogBatch | null
  /** Offers matches from the live end on. Returns a function that stops it. */
  listen(query: PhaseChangeQuery, listener: LogListener): () => void
  /** Lines of the seals after so many, oldest first. */
  seals(after: number, limit: number): Promise<readonly string[]>
  readonly stats: LogStats
  /**
   * Passes batches that are about to be committed to the numberer: another process may number them before `committed` is
   * called. A rollback does no harm. Cheap, never throws.
   */
  appended(batches: readonly WrittenBatch[]): void
  /** Makes the numberer number committed batches; those not passed to `appended` before are passed here. Cheap, never throws. */
  committed(batches?: readonly WrittenBatch[]): void
}

/** A cursor that is pruned, ahead of the head, of another log, or a bare number that fits several logs. */
export class CursorExpired extends Error {
  readonly oldest: number
  readonly head: number
  /** @param bare the cursor is a number, and the histories of the log have different changes at it */
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
