import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { ATTRIBUTE, bounded, SPAN } from '../../tracing/names.ts'
import { TRACER } from '../../tracing/spans.ts'
import { formatTraceparent, isSampled, parseTraceparent } from '../../tracing/traceparent.ts'
import type { WorkItem, WorkOutcome } from './work.ts'

/** The span of one piece of work, in the trace of the work, with the tracer that the application has set up. */
export interface WorkTrace {
  /** Without a tracer that of the work. Null: no sampled trace. */
  readonly traceparent: string | null
  run<T>(work: () => T): T
  end(outcome: WorkOutcome, hasThrown: boolean): void
}

export function traceWork(item: WorkItem): WorkTrace {
  const place = parseTraceparent(item.traceparent)
  const outer = place ? trace.setSpanContext(context.active(), place) : context.active()
  const span = trace.getTracer(TRACER).startSpan(`${SPAN.work} ${bounded(item.type)}`, KIND, outer)
  // Most work of a busy agent is not sampled, and costs no more than the decision.
  if (!place && !span.isRecording()) return UNTRACED
  const own = span.spanContext()
  span.setAttributes({
    ...{ [ATTRIBUTE.objectId]: item.objectId, [ATTRIBUTE.kind]: item.kind, [ATTRIBUTE.name]: bounded(item.name) },
    ...{ [ATTRIBUTE.workType]: bounded(item.type), [ATTRIBUTE.action]: item.action },
    ...{ [ATTRIBUTE.attempt]: item.attempt },
  })
  return {
    traceparent: trace.isSpanContextValid(own) && isSampled(own) ? formatTraceparent(own) : null,
    run: (work) => context.with(trace.setSpan(outer, span), work),
    end(outcome, hasThrown) {
      if (hasThrown || (outcome && 'error' in outcome && outcome.error)) span.setStatus({ code: SpanStatusCode.ERROR })
      if (outcome && 'phase' in outcome) span.setAttribute(ATTRIBUTE.phase, outcome.phase)
      span.end()
    },
  }
}

const KIND = { kind: SpanKind.CONSUMER }
const UNTRACED: WorkTrace = { traceparent: null, run: (work) => work(), end: () => undefined }
