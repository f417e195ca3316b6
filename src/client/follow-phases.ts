import type { Actor, ObjectKind, Phase } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { pause, retryDelay } from './pause.ts'

/** One durable record of a phase write, or of a refused request (`rejected`). Times are ISO 8601. */
export interface PhaseChange {
  readonly sequence: number
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
  /** Resume with `after: through`. */
  readonly through: number
}
export interface FollowOptions {
  /** As PhaseChangeFilter of the API. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined
  /** The last sequence that is known already; 0 is the beginning of the log. */
  readonly after: number
  readonly signal?: AbortSignal | undefined
  /** Changes per batch, 500 by default. */
  readonly maxBatch?: number
}

const PHASE_LOG = `subscription PhaseLog($filter: PhaseChangeFilter, $after: Sequence!, $maxBatch: Int!) {
  phaseLog(filter: $filter, after: $after, maxBatch: $maxBatch) {
    through
    changes {
      sequence objectId kind name rootId projectName machine from to actor by reason message jobId revision rejected at
    }
  }
}`
/** Batches kept for a slow reader; then the stream is dropped and resumed once they are read. */
const BUFFER = 32

export async function* followPhases(client: Client, options: FollowOptions): AsyncGenerator<PhaseLogBatch> {
  const { filter, signal, maxBatch = 500 } = options
  let cursor = options.after
  const where = () => ({ ...(filter ? { filter } : {}), after: cursor, maxBatch })
  // The log has no end: a server that completes the stream is going away.
  for (let retries = 0; !signal?.aborted; retries += 1) {
    const batches = client.subscribe<{ phaseLog: PhaseLogBatch }>(PHASE_LOG, where, {
      buffer: BUFFER,
      ...(signal ? { signal } : {}),
    })
    for await (const { phaseLog } of batches) {
      retries = 0
      // A socket that reconnected by itself may repeat what was read already.
      if (phaseLog.through <= cursor) continue
      const changes = phaseLog.changes.filter(({ sequence }) => sequence > cursor)
      cursor = phaseLog.through
      yield { changes, through: cursor }
    }
    await pause(retryDelay(retries), signal)
  }
}
