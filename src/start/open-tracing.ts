import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import type { Logger } from '../logger.ts'
import { startTracing } from '../tracing/start.ts'

/** The tracer that is configured; null: none is, and nothing of it is loaded. */
export async function openTracing({ tracing }: Config, logger: Logger): Promise<AsyncDisposable | null> {
  if (!tracing) return null
  const opened = await startTracing(tracing, {
    serviceName: 'phaseline',
    version: packageJson.version,
    onLost: (spans, error) =>
      logger.warn(
        { spans, reason: error?.message },
        'spans could not be sent: see OTEL_EXPORTER_OTLP_ENDPOINT, and whether the collector answers',
      ),
  })
  logger.info({ endpoint: tracing.url, sampler: tracing.sampler, ratio: tracing.ratio }, 'traces are sent')
  return opened
}
