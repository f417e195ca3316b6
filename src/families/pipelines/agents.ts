import { requireState } from '../../agents/arguments.ts'
import { LEASE_MS } from '../../agents/claim-work.ts'
import { logProblem } from '../../agents/log-event.ts'
import type { AgentProgram } from '../../agents/program.ts'
import { openProcessRuntime } from './agents/process/process-runtime.ts'
import { runRuntime } from './agents/runtime/run-runtime.ts'

/**
 * The runtime that runs workers and jobs as processes of its machine. It keeps its files in `--state <folder>`; `--grace-ms`
 * is the time that its workloads get from SIGTERM to SIGKILL.
 */
export const processes: AgentProgram = async (context) => {
  const { client, url, concurrency, graceMs, leaseMs = LEASE_MS, env, signal } = context
  await using runtime = await openProcessRuntime({ state: requireState(context), url, graceMs, env: { ...env } })
  await runRuntime({
    client,
    type: 'process',
    runtime,
    concurrency,
    leaseMs,
    signal,
    onProblem: (problem) => logProblem('process', problem),
  })
}
