import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { measureProcess } from '../../src/server/operators/measure-process.ts'
import { until } from '../testkit/wait.ts'

const BLOCKED_MS = 700
/** The lag that a measurement must show even if it began just before the block. */
const SEEN_S = (BLOCKED_MS - 250) / 1_000

test('a blocked event loop shows in its lag, once; the library’s own monitor is replaced', async () => {
  const registry = new Registry()
  measureProcess(registry)
  const read = async () =>
    new Map(
      (await registry.metrics()).split('\n').flatMap((line) => {
        const [, figure, value] = /^nodejs_eventloop_lag_(\w+)_seconds (\S+)$/.exec(line) ?? []
        return figure === undefined ? [] : [[figure, Number(value)] as const]
      }),
    )
  const blockedUntil = performance.now() + BLOCKED_MS
  while (performance.now() < blockedUntil);
  const blocked = await until(
    async () => {
      const found = await read()
      return (found.get('max') ?? 0) > SEEN_S ? found : null
    },
    { what: 'it is seen' },
  )
  expect([...blocked.keys()]).toEqual(expect.arrayContaining(['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']))
  // A lag is reported once. A busy machine may block it again.
  await until(async () => ((await read()).get('max') ?? SEEN_S) < SEEN_S, { what: 'it is not told again' })
})
