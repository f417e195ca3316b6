import type { Actor, ObjectKind, Phase } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { ClientError } from './client-error.ts'
import { pause, retryDelay } from './pause.ts'

/** One durable record of a phase write, or of a refused request (`rejected`). Times are ISO 8601. */
export interface PhaseChange {
  readonly sequence: number
  /** Its place in the log, to resume after it; only where `cursors` was asked for. */
  readonly cursor?: string
  readonly objectId: string
  readonly kind: ObjectKind
  readonly name: string
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
  readonly revision: number | null
  readonly rejected: boolean
  readonly at: string
}
export interface PhaseLogBatch {
  readonly changes: readonly PhaseChange[]
  /** All that matches, up to this sequence, was told. */
  readonly through: number
  /** The place at `through`: resume with `after: cursor`. */
  readonly cursor: string
}
/** What the log holds now that it does not hold a reader's place: that is pruned, or of another log. */
export interface LogRange {
  readonly oldest: number
  readonly head: number
  /** Before the oldest change, and after the newest one. */
  readonly startCursor: string
  readonly endCursor: string
  /** The last place that is in every history of the log: whoever goes on from here misses nothing, and may repeat some. */
  readonly commonCursor: string
}
export interface FollowOptions {
  /** As PhaseChangeFilter of the API. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined
  /**
   * Where to begin: a cursor of the log, as trees, changes and batches have one; 0 is the beginning of the log. Other
   * sequence numbers are refused once the database was restored or failed over, since they do not say of which log they are.
   */
  readonly after: string | number
  /**
   * The place was lost: it is pruned, or the database was restored or failed over and lost what was read there. Returns
   * where to go on, usually the `cursor` of a tree that was read again. Without it the stream ends with CURSOR_EXPIRED.
   */
  readonly onExpired?: ((log: LogRange) => Promise<string | number> | string | number) | undefined
  readonly signal?: AbortSignal | undefined
  /** Changes per batch, 500 by default. */
  readonly maxBatch?: number
  /** Whether each change has its own `cursor`; a batch always has one. */
  readonly cursors?: boolean
}

const PHASE_LOG = `subscription PhaseLog($filter: PhaseChangeFilter, $after: Sequence!, $maxBatch: Int!, $cursors: Boolean!) {
  phaseLog(filter: $filter, after: $after, maxBatch: $maxBatch) {
    through cursor
    changes {
      cursor @include(if: $cursors)
      sequence objectId kind name rootId projectName machine from to actor by reason message jobId revision rejected at
    }
  }
}`
/** Batches kept for a slow reader; then the stream is dropped and resumed once they are read. */
const BUFFER = 32

export async function* followPhases(client: Client, options: FollowOptions): AsyncGenerator<PhaseLogBatch> {
  const { onExpired, ...rest } = options
  for (let after = options.after; ; ) {
    try {
      return yield* followFrom(client, { ...rest, after })
    } catch (error) {
      const range = logRangeOf(error)
      if (!range || !onExpired) throw error
      after = await onExpired(range)
    }
  }
}

/** What the log holds, when an error says that a place is not in it; otherwise null. */
export function logRangeOf(error: unknown): LogRange | null {
  if (!(error instanceof ClientError && error.code === 'CURSOR_EXPIRED')) return null
  const { oldest, head, startCursor, endCursor, commonCursor } = error.extensions
  if (typeof oldest !== 'number' || typeof head !== 'number') return null
  if (typeof startCursor !== 'string' || typeof endCursor !== 'string' || typeof commonCursor !== 'string') return null
  return { oldest, head, startCursor, endCursor, commonCursor }
}

async function* followFrom(client: Client, options: FollowOptions): AsyncGenerator<PhaseLogBatch> {
  const { filter, signal, maxBatch = 500, cursors = false } = options
  let cursor = options.after
  let known = typeof cursor === 'number' ? cursor : 0
  const where = () => ({ ...(filter ? { filter } : {}), after: cursor, maxBatch, cursors })
  // The log has no end: a server that completes the stream is going away.
  for (let retries = 0; !signal?.aborted; retries += 1) {
    const batches = client.subscribe<{ phaseLog: PhaseLogBatch }>(PHASE_LOG, where, {
      buffer: BUFFER,
      ...(signal ? { signal } : {}),
    })
    for await (const { phaseLog } of batches) {
      retries = 0
      // A socket that reconnected by itself may repeat what was read already.
      if (phaseLog.through <= known) continue
      const changes = phaseLog.changes.filter(({ sequence }) => sequence > known)
      known = phaseLog.through
      cursor = phaseLog.cursor
      yield { changes, through: known, cursor }
    }
    await pause(retryDelay(retries), signal)
  }
}
