import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'

/** Milliseconds between two looks. What blocks for as long is always seen. */
const EVERY_MS = 250
/** Of a millisecond. */
const NANOSECONDS = 1e6
/** Milliseconds: the longest time that a timer takes. */
export const NEVER_MS = 2 ** 31 - 1

/** Of the process: null until something measures it. */
let lags: RecordableHistogram | null = null
function measured(): RecordableHistogram {
  if (lags) return lags
  const started = createHistogram()
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    // A histogram takes no zero.
    started.record(Math.max(1, Math.round((now - last - EVERY_MS) * NANOSECONDS)))
    last = now
  }, EVERY_MS).unref()
  lags = started
  return started
}

const FIGURES = {
  min: ['The shortest delay of a timer since the last look.', (lag) => lag.min],
  max: ['The longest delay of a timer since the last look.', (lag) => lag.max],
  mean: ['The mean delay of timers since the last look.', (lag) => lag.mean],
  stddev: ['The standard deviation of the delays of timers since the last look.', (lag) => lag.stddev],
  p50: ['The median delay of timers since the last look.', (lag) => lag.percentile(50)],
  p90: ['What nine of ten delays of timers did not exceed since the last look.', (lag) => lag.percentile(90)],
  p99: ['What 99 of 100 delays of timers did not exceed since the last look.', (lag) => lag.percentile(99)],
} as const satisfies Record<string, readonly [string, (lag: RecordableHistogram) => number]>

/**
 * In the place of the library's own, which wakes the process a hundred times a second: that was most of what an idle server
 * cost. Its monitor is to be made so slow that it costs nothing.
 */
export function measureEventLoopLag(registry: Registry): void {
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
