import { SpanKind } from '@opentelemetry/api'
import { ATTRIBUTE, SPAN } from '../tracing/names.ts'
import { isTracing, startSpan } from '../tracing/spans.ts'
import { formatTraceparent, isSampled, parseTraceparent } from '../tracing/traceparent.ts'

/** Spans of phase changes on their way from a transaction to the subscriptions, in the trace of that transaction. */

/** Changes of one sampled trace, from this sequence through that one. */
export interface NumberedTrace {
  readonly from: number
  readonly through: number
  /** The place of their numbering. */
  readonly traceparent: string
}

/** Bounds the traces of one announcement, and so its spans: further batches have none. */
export const MAX_TRACES = 32

/** The span from the writing of a batch to its number. Null: its trace is not sampled. */
export function traceNumbering(
  traceparent: string,
  writtenAt: number,
  { from, n }: { readonly from: number; readonly n: number },
): NumberedTrace | null {
  const place = parseTraceparent(traceparent)
  if (!(isTracing() && place && isSampled(place))) return null
  const through = from + n - 1
  const attributes = { [ATTRIBUTE.sequence]: from, [ATTRIBUTE.changes]: n }
  const span = startSpan(SPAN.number, place, { kind: SpanKind.PRODUCER, startTime: writtenAt, attributes })
  span.end()
  return { from, through, traceparent: formatTraceparent(span.spanContext()) }
}

/** The spans of handing numbered changes to the subscriptions of this process, which has just ended. */
export function traceDelivery(traces: readonly NumberedTrace[], startTime: number, subscriptions: number): void {
  if (subscriptions === 0 || !isTracing()) return
  for (const { from, through, traceparent } of traces) {
    const place = parseTraceparent(traceparent)
    if (!(place && isSampled(place))) continue
    const attributes = {
      ...{ [ATTRIBUTE.sequence]: from, [ATTRIBUTE.changes]: through - from + 1 },
      [ATTRIBUTE.subscriptions]: subscriptions,
    }
    startSpan(SPAN.deliver, place, { kind: SpanKind.CONSUMER, startTime, attributes }).end()
  }
}
