import { SHARED } from '../workloads/fan-out.ts'
import { EASY, measure as measureContestant } from '../workloads/fan-out-measure.ts'
import type { Measure } from './turn.ts'

export const measure: Measure = async ({ checkout, redisUrl, freshDatabase }) => {
  const places = { checkout, redisUrl, databaseUrl: await freshDatabase() }
  const { messagesPerSecond, cpuPerMessage, atHalf, atEase } = await measureContestant('phaseline', SHARED, places)
  // Half of its own rate is another load for each checkout; the easy rate is the same for both.
  const easy = `at ${EASY.toLocaleString('en-US')} messages/s`
  return {
    'messages/s': messagesPerSecond,
    'server CPU, µs/message': cpuPerMessage,
    'p50 at half of that, ms': atHalf.p50,
    'p99 at half of that, ms': atHalf.p99,
    [`p50 ${easy}, ms`]: atEase.p50,
    [`p99 ${easy}, ms`]: atEase.p99,
  }
}
