import { openProcessRuntime } from '../../src/families/pipelines/agents/process/process-runtime.ts'
import type { Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'

/** A runtime in a process of its own, to be killed: starts what it is given, tells its lines, and lives on. */
const [state = '', url = '', given = '', isolation = 'null'] = process.argv.slice(2)
const workload = JSON.parse(given) as Workload
const runtime = await openProcessRuntime({ state, url, env: process.env, isolation: JSON.parse(isolation) })
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
