import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The product's command, with one addition: on SIGUSR2 it collects garbage and prints how much memory is used. */

setFlagsFromString('--expose-gc')
/** As thorough as when the memory is at its end: pages without live objects go back to the system. */
const LAST_RESORT = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const
const collect = runInNewContext('gc') as (options: typeof LAST_RESORT) => void

process.on('SIGUSR2', () => {
  collect(LAST_RESORT)
  const { heapUsed, external, rss } = process.memoryUsage()
  process.stdout.write(`memory ${JSON.stringify({ used: heapUsed + external, rss })}\n`)
})
process.stdout.write(`process ${process.pid}\n`)
await import('../../src/cli/main.ts')
