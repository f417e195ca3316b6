import { join } from 'node:path'
import type { Runtime, Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'

/** A runtime in a process of its own, to be killed: starts what it is given, tells its lines, and lives on. */
const [given = '', module = '', ...args] = process.argv.slice(2)
const { reopen } = (await import(join(import.meta.dirname, module))) as {
  reopen(...args: readonly string[]): Promise<Runtime>
}
const workload = JSON.parse(given) as Workload
const runtime = await reopen(...args)
await runtime.list()
process.stdout.write('opened\n')
await runtime.start(workload, 'the receipt')
process.stdout.write('started\n')
const signal = new AbortController().signal
const end = await runtime.watch(workload.id, {
  signal,
  onRunning() {},
  onLine: (_, text) => process.stdout.write(`${text}\n`),
})
process.stdout.write(`${JSON.stringify(end)}\n`)
setInterval(() => {}, 1_000)
