import { requireState } from '../../../agents/arguments.ts'
import { readCloneOptions } from '../../../agents/git/clone-options.ts'
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
  const { url, graceMs, env } = context
  const state = requireState(context)
  const isolation = readIsolation(context.options)
  // Workloads without a network get none by a clone, either.
  const clone = readCloneOptions(context.options, isolation?.network === 'api' ? [] : ['*'])
  await using runtime = await openProcessRuntime({ state, url, graceMs, env: { ...env }, isolation, clone })
  await runRuntime(context, { type: 'process', runtime })
}
