import { requireState } from '../../../agents/arguments.ts'
import { LEASE_MS } from '../../../agents/claim-work.ts'
import type { AgentProgram } from '../../../agents/program.ts'
import { readIsolation } from './process/isolation.ts'
import { openProcessRuntime } from './process/process-runtime.ts'
import { runRuntime } from './runtime/run-runtime.ts'

/**
 * The runtime that runs workers and jobs as processes of its machine. It keeps its files in `--state <folder>`; `--grace-ms`
 * is the time that its workloads get from SIGTERM to SIGKILL. `--isolation` is isolated (the default) or trusted. For isolated
 * ones, `--network` is api (the default) or host, and `--folders` names further folders to read, with colons between them.
 */
export const processes: AgentProgram = async (context) => {
  const { client, url, concurrency, graceMs, labels, capacity, leaseMs = LEASE_MS, env, signal } = context
  const state = requireState(context)
  const isolation = readIsolation(context.options)
  await using runtime = await openProcessRuntime({ state, url, graceMs, env: { ...env }, isolation })
  await runRuntime({
    client,
    type: 'process',
    runtime,
    place: { labels, capacity },
    concurrency,
    leaseMs,
    signal,
    onProblem: (problem) => context.onProblem('process', problem),
  })
}
