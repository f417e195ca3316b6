import { createRequire } from 'node:module'
import type Pg from 'pg'
import type { Reading } from './server.ts'

/** The server as it is, with a count of its statements and its memory. Answers over IPC. */

/** One look costs half a millisecond. */
const SAMPLE_MS = 100

// The server's own copy of the driver, not that of the benchmark.
const pg = createRequire(new URL('../src/main.ts', import.meta.url))('pg') as typeof Pg
let statements = 0
const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
pg.Client.prototype.query = function counted(this: unknown, ...args: unknown[]) {
  statements += 1
  return query.apply(this, args)
} as typeof pg.Client.prototype.query

let peak = { rss: 0, heap: 0 }
function sample(): void {
  const { rss, heapUsed } = process.memoryUsage()
  peak = { rss: Math.max(peak.rss, rss), heap: Math.max(peak.heap, heapUsed) }
}
setInterval(sample, SAMPLE_MS).unref()

process.on('message', () => {
  sample()
  const { user, system } = process.cpuUsage()
  const rss = process.memoryUsage.rss()
  const cpuMs = (user + system) / 1_000
  process.send?.({ statements, rss, rssPeak: peak.rss, heapPeak: peak.heap, cpuMs } satisfies Reading)
  peak = { rss: 0, heap: 0 }
})
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
const { serve } = await import('../src/serve.ts')
await serve({ example: false, say: () => {} })
if (process.connected) process.disconnect()
