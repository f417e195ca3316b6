import { context, trace } from '@opentelemetry/api'
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace'
import { MAX_VALUE } from './names.ts'
import { parsePairs, type TracingSettings } from './settings.ts'
import { TRACER, tracingStarted } from './spans.ts'

/** The tracer of a process. The SDK and the exporter are loaded here, and only when they are configured. */

export interface TracingProcess {
  /** Unless the settings name one. */
  readonly serviceName: string
  readonly version: string
  /** Called at most once a minute, with the spans lost since. */
  onLost(spans: number, error: Error | undefined): void
}

/** How long the end of a process waits for its last spans, in milliseconds. */
const END_MS = 3_000
const SPAN_LIMITS = {
  attributeValueLengthLimit: MAX_VALUE,
  attributeCountLimit: 32,
  linkCountLimit: 32,
  eventCountLimit: 32,
  attributePerEventCountLimit: 8,
  attributePerLinkCountLimit: 4,
}

export async function startTracing(settings: TracingSettings, process: TracingProcess): Promise<AsyncDisposable> {
  const [sdk, { resourceFromAttributes }, { AsyncLocalStorageContextManager }, exporter] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/context-async-hooks'),
    openExporter(settings),
  ])
  const { queueSize, batchSize, delayMs, timeoutMs } = settings
  const batching = {
    exporter: counted(exporter, process),
    ...{ maxQueueSize: queueSize, maxExportBatchSize: batchSize, scheduledDelayMillis: delayMs },
    exportTimeoutMillis: timeoutMs,
  }
  const provider = new sdk.TracerProvider({
    sampler: samplerOf(settings, sdk),
    spanLimits: SPAN_LIMITS,
    resource: resourceFromAttributes({
      ...settings.attributes,
      'service.name': settings.serviceName ?? settings.attributes['service.name'] ?? process.serviceName,
      'service.version': process.version,
      'process.pid': globalThis.process.pid,
    }),
    spanProcessors: [new sdk.BatchSpanProcessor(batching)],
  })
  const manager = new AsyncLocalStorageContextManager().enable()
  context.setGlobalContextManager(manager)
  trace.setGlobalTracerProvider(provider)
  const ended = tracingStarted(provider.getTracer(TRACER, process.version))
  return {
    async [Symbol.asyncDispose]() {
      ended()
      trace.disable()
      context.disable()
      await inTime(provider.shutdown())
    },
  }
}

/** A collector that is away must not hold up the end. */
async function inTime(ending: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, END_MS)
  await Promise.race([ending.catch(() => {}), late])
  clearTimeout(timer)
}

async function openExporter({ url, protocol, headers, timeoutMs }: TracingSettings): Promise<SpanExporter> {
  const options = { url, timeoutMillis: timeoutMs, headers: { ...parsePairs(headers?.reveal() ?? '') } }
  if (protocol === 'http/json') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
    return new OTLPTraceExporter(options)
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter(options)
}

type Sdk = typeof import('@opentelemetry/sdk-trace')

function samplerOf({ sampler, ratio }: TracingSettings, sdk: Sdk): Sampler {
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }
  const root = (roots[sampler.replace('parentbased_', '')] as () => Sampler)()
  return sampler.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root
}

const LOST_MS = 60_000
/** A successful result of the exporter. */
const SUCCEEDED = 0

/** Tells of spans that the collector did not take. */
function counted(exporter: SpanExporter, { onLost }: TracingProcess): SpanExporter {
  let lost = 0
  let toldAt = Number.NEGATIVE_INFINITY
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== SUCCEEDED) {
          lost += spans.length
          if (performance.now() - toldAt >= LOST_MS) {
            toldAt = performance.now()
            onLost(lost, result.error)
            lost = 0
          }
        }
        done(result)
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
}
