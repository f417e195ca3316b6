import type { LogBatch, LogCursor } from '../../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import type { StreamEvent } from './event-stream.ts'

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
 * The source of a subscription to the log. A server reads `source` and follows it once for all equal subscriptions.
 */
export class LogStream<T extends PhaseChangeRecord | LogBatch> implements AsyncIterable<StreamEvent<T>> {
  readonly source: LogSource
  constructor(source: LogSource) {
    this.source = source
  }

  /** The tree, object or project that it follows; empty: more than one of these. */
  get place(): string {
    const { objectId, rootId, project } = this.source.query
    return objectId ?? rootId ?? project ?? ''
  }

  /** GraphQL takes only what can be iterated for a source. */
  [Symbol.asyncIterator](): never {
    throw new Error('A stream of the log is followed by its source.')
  }
}
