import {
  type Attributes,
  context,
  createContextKey,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ATTRIBUTE } from './names.ts'
import { isSampled } from './traceparent.ts'

/**
 * Makes the spans of this process. Without a started tracer nothing is made and nothing is evaluated: `isTracing` reads
 * one variable. Only sampled traces have spans here, so the others cost no objects.
 */

export const TRACER = 'phaseline'
const REQUEST_ID = createContextKey('phaseline.request.id')

let tracer: Tracer | null = null
export const isTracing = (): boolean => tracer !== null
/** Called by what has started a tracer. Returns how it ends. */
export function tracingStarted(started: Tracer): () => void {
  tracer = started
  return () => {
    if (tracer === started) tracer = null
  }
}

/** The span that runs here; undefined: none that is sampled. */
export function activeSpan(): SpanContext | undefined {
  if (!tracer) return undefined
  const active = trace.getSpanContext(context.active())
  return active && isSampled(active) ? active : undefined
}

/** A part of a sampled trace. */
export function startSpan(name: string, parent: SpanContext, options: SpanOptions = {}): Span {
  return tracerHere().startSpan(name, options, trace.setSpanContext(ROOT_CONTEXT, parent))
}

/** In a process without a tracer, its spans record nothing. */
const tracerHere = (): Tracer => tracer ?? trace.getTracer(TRACER)

/** A new trace, or what begins here of the caller's. Null: it is not sampled. */
export function startTrace(name: string, caller: SpanContext | null, options: SpanOptions): Span | null {
  const parent = caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT
  const span = tracerHere().startSpan(name, options, parent)
  return span.isRecording() ? span : null
}

/** The span is the current one while `act` runs, also in log lines. */
export function runIn<T>(span: SpanContext | null, act: () => T, requestId?: string): T {
  const outer = context.active()
  const named = requestId === undefined ? outer : outer.setValue(REQUEST_ID, requestId)
  const inner = span ? trace.setSpanContext(named, span) : trace.deleteSpan(named)
  return context.with(inner, act)
}

/** A span around something that the sampled trace here does; without one it is simply done. */
export async function traced<T>(name: string, attributes: () => Attributes, act: () => Promise<T>): Promise<T> {
  const parent = activeSpan()
  if (!parent) return await act()
  const span = startSpan(name, parent, { attributes: attributes() })
  try {
    return await runIn(span.spanContext(), act)
  } catch (error) {
    failSpan(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** The kind of the error only: messages may quote values. */
export function failSpan(span: Span, error: unknown): void {
  const name = error instanceof Error ? error.name : 'Error'
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute(ATTRIBUTE.outcome, name)
}

/** Maximum number of links of a batch; more are left out. */
const MAX_LINKS = 32
export const linksTo = (spans: readonly SpanContext[]): Link[] =>
  spans.slice(0, MAX_LINKS).map((linked) => ({ context: linked }))

/** The trace fields of log lines. */
export function traceFields(): Record<string, string> {
  if (!tracer) return {}
  const active = context.active()
  const span = trace.getSpanContext(active)
  const requestId = active.getValue(REQUEST_ID)
  return {
    ...(span ? { trace_id: span.traceId, span_id: span.spanId } : {}),
    ...(typeof requestId === 'string' ? { requestId } : {}),
  }
}
