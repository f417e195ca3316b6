import { type Span, type SpanContext, SpanKind } from '@opentelemetry/api'
import { ATTRIBUTE, bounded, SPAN } from '../tracing/names.ts'
import { activeSpan, failSpan, isTracing, linksTo, startSpan } from '../tracing/spans.ts'
import { formatTraceparent, isSampled, parseTraceparent } from '../tracing/traceparent.ts'
import type { TrackedObject } from './tracked-object.ts'

/** A caller of a lane, with the data that its transaction traces. */
export interface RequestTrace {
  /** By the monotonic clock. */
  readonly at: number
  readonly span: SpanContext | undefined
}
/** Null: nothing is traced. */
export const captureTrace = (): RequestTrace | null =>
  isTracing() ? { at: performance.now(), span: activeSpan() } : null

/**
 * The span of a transaction. It is part of the trace of the work, or of the request for a decision, that the transaction finds;
 * otherwise of the trace of the first caller. All others are links. It begins when something needs its context: only then
 * is its parent known.
 */
export class TransactionTrace {
  readonly #beganAt = Date.now()
  readonly #began = performance.now()
  readonly #asked: readonly RequestTrace[]
  readonly #followed = new Map<string, SpanContext>()
  /** Spans of what it does for agents, which end with it. */
  readonly #parts: Span[] = []
  readonly #attributes: Record<string, number | string> = {}
  #span: Span | null = null

  constructor(asked: readonly RequestTrace[]) {
    this.#asked = asked
    if (asked.length === 0) return
    this.#attributes[ATTRIBUTE.tasks] = asked.length
    this.#attributes[ATTRIBUTE.laneWaitMs] = since(Math.min(...asked.map(({ at }) => at)))
  }

  connected(): void {
    this.#attributes[ATTRIBUTE.connectionWaitMs] = since(this.#began)
  }
  /** Measures the wait for a lock. */
  async locking<T>(lock: Promise<T>): Promise<T> {
    const sent = performance.now()
    const locked = await lock
    this.#attributes[ATTRIBUTE.lockWaitMs] = since(sent)
    return locked
  }
  of(rootId: string): void {
    this.#attributes[ATTRIBUTE.rootId] ??= rootId
  }

  /** The transaction becomes part of this trace, if that is sampled. */
  follow(traceparent: string | null | undefined): SpanContext | null {
    const place = parseTraceparent(traceparent)
    if (!place || !isSampled(place)) return null
    if (!this.#span && this.#followed.size < MAX_FOLLOWED) this.#followed.set(place.spanId, place)
    return place
  }

  /** The trace context for work that the transaction offers; null: no sampled trace. */
  get traceparent(): string | null {
    const place = this.context
    return place && formatTraceparent(place)
  }
  get context(): SpanContext | null {
    this.#span ??= this.#start()
    return this.#span?.spanContext() ?? null
  }

  /** A part of the trace of this work; returns its context for the agent, or that of the work. */
  handed({ row, work }: TrackedObject, instance: string, name: 'claim' | 'dispatch'): string | null {
    if (!work) return null
    const place = this.follow(work.traceparent)
    if (!place) return work.traceparent
    const span = startSpan(SPAN[name], place, {
      kind: SpanKind.PRODUCER,
      startTime: this.#beganAt,
      attributes: {
        ...{ [ATTRIBUTE.objectId]: row.id, [ATTRIBUTE.kind]: row.kind, [ATTRIBUTE.name]: bounded(row.name) },
        ...{ [ATTRIBUTE.workType]: bounded(work.type), [ATTRIBUTE.action]: work.action },
        ...(work.target === null ? {} : { [ATTRIBUTE.target]: bounded(work.target) }),
        ...{ [ATTRIBUTE.attempt]: work.attempt, [ATTRIBUTE.instance]: bounded(instance) },
      },
    })
    this.#parts.push(span)
    return formatTraceparent(span.spanContext())
  }

  /** A report of work, in the trace of the agent that sends it, or else of the work. */
  reported({ row, work }: TrackedObject, sent: string | null | undefined, phase: string | null | undefined): void {
    const place = this.follow(sent) ?? this.follow(work?.traceparent)
    if (!place) return
    const attributes = {
      ...{ [ATTRIBUTE.objectId]: row.id, [ATTRIBUTE.kind]: row.kind },
      ...(phase ? { [ATTRIBUTE.phase]: phase } : {}),
    }
    this.#parts.push(startSpan(SPAN.report, place, { kind: SpanKind.CONSUMER, startTime: this.#beganAt, attributes }))
  }

  /** Null: it went well. */
  end(statements: number, failure: { readonly error: unknown } | null): void {
    const span = this.#span ?? this.#start()
    span?.setAttributes({ ...this.#attributes, [ATTRIBUTE.statements]: statements })
    for (const part of [...this.#parts, ...(span ? [span] : [])]) {
      if (failure) failSpan(part, failure.error)
      part.end()
    }
  }

  #start(): Span | null {
    const callers = this.#asked.flatMap(({ span }) => span ?? [])
    const [parent, ...others] = [...this.#followed.values(), ...callers]
    if (!parent) return null
    return startSpan(SPAN.transaction, parent, { startTime: this.#beganAt, links: linksTo(others) })
  }
}

const MAX_FOLLOWED = 33
const since = (at: number): number => Math.round((performance.now() - at) * 1_000) / 1_000
