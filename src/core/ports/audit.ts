import type { AuditCursor, AuditEntry, AuditFilter, ChainEnd, ChainedEvent } from '../audit.ts'

/** An event as readers see it. */
export type AuditRow = ChainedEvent & { readonly hash: Buffer }

/** The audit, for what is written in no transaction, and for its readers. */
export interface AuditPort {
  /** Takes an entry of what has written nothing. Cheap, never throws; equal ones of a second become one event. */
  note(entry: AuditEntry): void
  /** The same for what programs do again and again: equal ones of a minute become one event, besides the first. */
  noteThrottled(entry: AuditEntry): void
  /** This process has committed an event with a change, which gets its place in the chain soon. Cheap, never throws. */
  committed(): void
  /** Resolves when everything that was noted or committed before has its place in the chain. */
  settle(): Promise<void>
  /**
   * Events that match after a place in the chain, each once and in order, then live, until the signal aborts. Throws
   * AuditCursorExpired.
   */
  follow(filter: AuditFilter, after: AuditCursor, signal: AbortSignal): AsyncIterable<AuditRow>
}

/** The audit has no event at this cursor: retention has removed it, or another copy of the database is read. */
export class AuditCursorExpired extends Error {
  readonly oldest: number
  readonly head: number
  constructor({ sequence }: AuditCursor, anchor: ChainEnd, head: ChainEnd) {
    const oldest = anchor.sequence + 1
    super(
      sequence < anchor.sequence
        ? `The events after ${sequence} are not kept any more: the oldest is ${oldest}.`
        : sequence > head.sequence
          ? `There is no event ${sequence}: the newest is ${head.sequence}. The audit was restored, or it is another one.`
          : `The event ${sequence} is another one than the cursor names. The audit was restored, or it is another one.`,
    )
    this.oldest = oldest
    this.head = head.sequence
  }
}
