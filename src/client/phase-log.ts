import type { Actor, ObjectKind, Phase } from '../core/vocabulary.ts'
import { ClientError } from './client-error.ts'

/** One durable record of a phase write, of a refused request (`rejected`), or of one that waits. Times are ISO 8601. */
export interface PhaseChange {
  readonly sequence: number
  /** Position in the log, to resume after it; only with `cursors`. */
  readonly cursor?: string
  readonly objectId: string
  readonly kind: ObjectKind
  readonly name: string
  /** Names from the root down to the object, divided by `/`; begins with `…/` if only its name was recorded. */
  readonly path: string
  readonly rootId: string
  readonly projectName: string
  readonly machine: string
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly by: string | null
  readonly reason: string | null
  readonly message: string | null
  readonly jobId: string | null
  /** Revision that the change made, from 1; 0 if it was rejected, or is a request that waits: `from` is `to`. */
  readonly revision: number
  readonly rejected: boolean
  readonly at: string
}
export interface PhaseLogBatch {
  readonly changes: readonly PhaseChange[]
  /** Every matching change up to this sequence has been delivered. */
  readonly through: number
  /** Position at `through`: resume with `after: cursor`. */
  readonly cursor: string
}
/** The range of the log after a cursor has expired: its position was pruned, or belongs to another log. */
export interface LogRange {
  readonly oldest: number
  readonly head: number
  /** Before the oldest change, and after the newest one. */
  readonly startCursor: string
  readonly endCursor: string
  /** The last position that every history of the log contains: a reader that resumes here misses nothing and may repeat some. */
  readonly commonCursor: string
}
export interface FollowOptions {
  /** As PhaseChangeFilter of the API. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined
  /**
   * Resume after this cursor, as trees, changes and batches have one; 0 is the beginning of the log. The server refuses
   * other sequence numbers once the database was restored or failed over, since they do not name the history they are of.
   */
  readonly after: string | number
  /**
   * Called when the cursor has expired: its position was pruned, or lost when the database was restored or failed over.
   * Returns the cursor to resume after, usually that of a tree read again. Without it the stream ends with CURSOR_EXPIRED.
   */
  readonly onExpired?: ((log: LogRange) => Promise<string | number> | string | number) | undefined
  readonly signal?: AbortSignal | undefined
  /** Changes per batch, 500 by default. */
  readonly maxBatch?: number
  /** True if each change has its own `cursor`; a batch always has one. */
  readonly cursors?: boolean
}

/** The range of the log that an expired cursor's error reports; null for any other error. */
export function logRangeOf(error: unknown): LogRange | null {
  if (!(error instanceof ClientError && error.code === 'CURSOR_EXPIRED')) return null
  const { oldest, head, startCursor, endCursor, commonCursor } = error.extensions
  if (typeof oldest !== 'number' || typeof head !== 'number') return null
  if (typeof startCursor !== 'string' || typeof endCursor !== 'string' || typeof commonCursor !== 'string') return null
  return { oldest, head, startCursor, endCursor, commonCursor }
}
