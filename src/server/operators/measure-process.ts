import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import { every } from '../../process/every.ts'

/** Milliseconds between two measurements of the event loop. A delay of as much is never missed. */
const EVERY_MS = 250
/** Per millisecond. */
const NANOSECONDS = 1e6
/** Milliseconds: the longest time that a timer takes. */
const NEVER_MS = 2 ** 31 - 1

/** Delays of timers in this process since the last scrape, in nanoseconds; null until something measures them. */
let lags: RecordableHistogram | null = null
function measured(): RecordableHistogram {
  if (lags) return lags
  const started = createHistogram()
  let last = performance.now()
  every(EVERY_MS, () => {
    const now = performance.now()
    // A histogram takes no zero.
    started.record(Math.max(1, Math.round((now - last - EVERY_MS) * NANOSECONDS)))
    last = now
  })
  lags = started
  return started
}

const FIGURES = {
  min: ['The shortest delay of a timer since the last scrape.', (lag) => lag.min],
  max: ['The longest delay of a timer since the last scrape.', (lag) => lag.max],
  mean: ['The mean delay of timers since the last scrape.', (lag) => lag.mean],
  stddev: ['The standard deviation of the delays of timers since the last scrape.', (lag) => lag.stddev],
  p50: ['The median delay of timers since the last scrape.', (lag) => lag.percentile(50)],
  p90: ['The delay of timers that nine of ten did not exceed since the last scrape.', (lag) => lag.percentile(90)],
  p99: ['The delay of timers that 99 of 100 did not exceed since the last scrape.', (lag) => lag.percentile(99)],
} as const satisfies Record<string, readonly [string, (lag: RecordableHistogram) => number]>

/**
 * The metrics of prom-client about the process. Its monitor of the event loop would wake the process a hundred times a second,
 * which is most of what an idle server costs, so it never runs: the same metrics are measured here.
 */
export function measureProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  measureEventLoop(registry)
}

function measureEventLoop(registry: Registry): void {
  const lag = measured()
  const all: (() => void)[] = []
  // The first one reads for all, so that they are of the same time.
  function collect(this: Gauge): void {
    for (const take of all) take()
    lag.reset()
  }
  for (const [figure, [help, read]] of Object.entries(FIGURES)) {
    const name = `nodejs_eventloop_lag_${figure}_seconds`
    registry.removeSingleMetric(name)
    const gauge = new Gauge({ name, help, registers: [registry], ...(all.length === 0 ? { collect } : {}) })
    all.push(() => gauge.set(lag.count === 0 ? 0 : read(lag) / 1e9))
  }
}
