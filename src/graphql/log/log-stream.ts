import type { LogBatch, LogCursor } from '../../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import type { GraphQLContext } from '../context.ts'
import { eventStream, type StreamEvent } from './event-stream.ts'

/** The part of the log that a subscription follows. */
export interface LogSource {
  readonly query: PhaseChangeQuery
  /** Undefined: live from now on. */
  readonly after: LogCursor | undefined
  readonly maxBatch: number
  /** The granularity of events: one change, or a batch of them. */
  readonly events: 'changes' | 'batches'
}

/**
 * The source of a subscription to the log. A server with many subscribers reads `source` and follows it once for all
 * equal subscriptions. Iterated, the stream follows the log itself, from the moment of the call.
 */
export class LogStream<T extends PhaseChangeRecord | LogBatch> implements AsyncIterable<StreamEvent<T>> {
  readonly source: LogSource
  readonly #context: GraphQLContext
  constructor(context: GraphQLContext, source: LogSource) {
    this.#context = context
    this.source = source
  }

  /** The tree, object or project that it follows; empty: more than one of these. */
  get place(): string {
    const { objectId, rootId, project } = this.source.query
    return objectId ?? rootId ?? project ?? ''
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent<T>> {
    const { query, after, maxBatch, events } = this.source
    return eventStream(this.#context, (signal) => {
      const batches = this.#context.log.follow(query, after, maxBatch, signal)
      // `events` says which of the two T is.
      return (events === 'batches' ? batches : oneByOne(batches)) as AsyncIterable<T>
    })
  }
}

async function* oneByOne(batches: AsyncIterable<LogBatch>): AsyncGenerator<PhaseChangeRecord> {
  for await (const { changes } of batches) yield* changes
}
