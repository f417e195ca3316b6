import { gql } from '../documents/gql.ts'
import type { Client } from './client.ts'
import { pause, retryDelay } from './pause.ts'
import { type FollowOptions, logRangeOf, type PhaseLogBatch } from './phase-log.ts'

const PHASE_LOG = gql(`subscription PhaseLog(
  $filter: PhaseChangeFilter, $after: Sequence!, $maxBatch: Int!, $cursors: Boolean!
) {
  phaseLog(filter: $filter, after: $after, maxBatch: $maxBatch) {
    through cursor
    changes {
      cursor @include(if: $cursors)
      sequence objectId kind name path rootId projectName machine from to actor by reason message jobId revision rejected at
    }
  }
}`)
/** Batches buffered for a slow reader; beyond, the stream is dropped and resumed once they are read. */
const BUFFER = 32

export async function* followPhases(client: Client, options: FollowOptions): AsyncGenerator<PhaseLogBatch> {
  const { onExpired, ...follow } = options
  for (let after = options.after; ; ) {
    try {
      return yield* followFrom(client, { ...follow, after })
    } catch (error) {
      const range = logRangeOf(error)
      if (!range || !onExpired) throw error
      after = await onExpired(range)
    }
  }
}

async function* followFrom(client: Client, options: FollowOptions): AsyncGenerator<PhaseLogBatch> {
  const { filter, signal, maxBatch = 500, cursors = false } = options
  let cursor = options.after
  let known = typeof cursor === 'number' ? cursor : 0
  const variables = () => ({ ...(filter ? { filter } : {}), after: cursor, maxBatch, cursors })
  // The log has no end: a server that completes the stream is shutting down.
  for (let retries = 0; !signal?.aborted; retries += 1) {
    const batches = client.subscribe(PHASE_LOG, variables, {
      buffer: BUFFER,
      ...(signal ? { signal } : {}),
    })
    for await (const { phaseLog } of batches) {
      retries = 0
      // A socket that reconnected by itself may repeat batches.
      if (phaseLog.through <= known) continue
      const changes = phaseLog.changes.filter(({ sequence }) => sequence > known)
      known = phaseLog.through
      cursor = phaseLog.cursor
      yield { changes, through: known, cursor }
    }
    await pause(retryDelay(retries), signal)
  }
}
