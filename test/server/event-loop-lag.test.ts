import { setTimeout as delay } from 'node:timers/promises'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { measureEventLoopLag, NEVER_MS } from '../../src/server/event-loop-lag.ts'

const BLOCKED_MS = 700

test('a blocked event loop shows in its lag, once; the library’s own monitor is replaced', async () => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  measureEventLoopLag(registry)
  const read = async () =>
    new Map(
      (await registry.metrics()).split('\n').flatMap((line) => {
        const [, figure, value] = /^nodejs_eventloop_lag_(\w+)_seconds (\S+)$/.exec(line) ?? []
        return figure === undefined ? [] : [[figure, Number(value)] as const]
      }),
    )
  // Two looks, before and after.
  await delay(300)
  await read()
  const until = performance.now() + BLOCKED_MS
  while (performance.now() < until);
  await delay(300)
  const blocked = await read()
  expect([...blocked.keys()]).toEqual(expect.arrayContaining(['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']))
  expect(blocked.get('max')).toBeGreaterThan((BLOCKED_MS - 250) / 1_000)
  // What was told is not told again.
  expect((await read()).get('max')).toBeLessThan((BLOCKED_MS - 250) / 1_000)
})
