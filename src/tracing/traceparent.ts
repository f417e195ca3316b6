import { createTraceState, type SpanContext, TraceFlags } from '@opentelemetry/api'

/** The place in a trace as it travels: the header `traceparent` of W3C Trace Context, and `TRACEPARENT` of an environment. */

/** Version 00 has 55 characters. A later one may have more behind them. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const MAX_TRACEPARENT = 128
/** The standard has all of it passed on up to here. */
const MAX_TRACESTATE = 512
const LENGTH = 55

/** Null: it is none, and is ignored. A tracestate that is too long is left out. */
export function parseTraceparent(text: unknown, state?: unknown): SpanContext | null {
  if (typeof text !== 'string' || text.length > MAX_TRACEPARENT) return null
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  if (text.startsWith('00') && text.length !== LENGTH) return null
  const isStated = typeof state === 'string' && state !== '' && state.length <= MAX_TRACESTATE
  return {
    ...{ traceId, spanId, isRemote: true },
    // Only this flag is known to us.
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    ...(isStated ? { traceState: createTraceState(state) } : {}),
  }
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')}`
}

export const isSampled = ({ traceFlags }: SpanContext): boolean => (traceFlags & TraceFlags.SAMPLED) !== 0
