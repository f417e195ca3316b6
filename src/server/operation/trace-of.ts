import type { CallerTrace } from '../../core/ports/viewer.ts'
import { isTracing } from '../../tracing/spans.ts'

/** The caller's trace context, as headers, a payload of `connection_init` or extensions of an operation carry it. */
export function traceOf(sent: unknown): { readonly trace?: CallerTrace } {
  if (!isTracing() || typeof sent !== 'object' || sent === null || !('traceparent' in sent)) return {}
  const { traceparent, tracestate } = sent as Readonly<Record<string, unknown>>
  if (typeof traceparent !== 'string') return {}
  return { trace: { traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) } }
}
