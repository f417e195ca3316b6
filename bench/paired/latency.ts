import { quantile, startServer } from '../harness.ts'
import { startPeer } from '../harness-peer.ts'
import { WARM_UP } from '../workloads/latency.ts'
import type { Measure } from './turn.ts'

/** Enough for a p99. */
const STARTS = 1_000

export const measure: Measure = async ({ checkout, env, freshDatabase }) => {
  await using server = await startServer({
    checkout,
    env,
    databaseUrl: await freshDatabase(),
    roles: ['gateway', 'engine'],
  })
  const url = `${server.origin}/graphql#${server.token}`
  await using creator = await startPeer('phaseline', { checkout, use: 'latency', url })
  await creator.measureStarts(WARM_UP)
  const times = await creator.measureStarts(STARTS)
  return { 'p50, ms': quantile(times, 0.5), 'p95, ms': quantile(times, 0.95), 'p99, ms': quantile(times, 0.99) }
}
