import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { GadgetResult } from '../../client/gadget/run-gadget.ts'
import type { GadgetMode } from '../../core/gadget/protocol.ts'
import { ATTRIBUTE, bounded, SPAN } from '../../tracing/names.ts'
import { isTracing, startSpan } from '../../tracing/spans.ts'
import { formatTraceparent, parseTraceparent } from '../../tracing/traceparent.ts'

export interface TracedCall {
  /** For the gadget; null: no sampled trace. */
  readonly traceparent: string | null
  ending(result: Promise<GadgetResult>): Promise<GadgetResult>
}

/** The span of a call of a gadget. Its arguments may hold secrets, so the span has only its name. */
export function traceCall(traceparent: string | null | undefined, gadget: string, mode: GadgetMode): TracedCall {
  const place = isTracing() ? parseTraceparent(traceparent) : null
  if (!place) return { traceparent: traceparent ?? null, ending: (result) => result }
  const attributes = { [ATTRIBUTE.gadget]: bounded(gadget), [ATTRIBUTE.gadgetMode]: mode }
  const span = startSpan(SPAN.gadget, place, { kind: SpanKind.CLIENT, attributes })
  return {
    traceparent: formatTraceparent(span.spanContext()),
    async ending(running) {
      const result = await running
      span.setAttribute(ATTRIBUTE.outcome, result.outcome)
      if (result.outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
      return result
    },
  }
}
