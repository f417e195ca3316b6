import { requireState } from '../../../../agents/arguments.ts'
import type { AgentProgram } from '../../../../agents/program.ts'
import { runRuntime } from '../runtime/run-runtime.ts'
import { openContainerRuntime } from './container-runtime.ts'
import { readContainerOptions } from './options.ts'

/** The runtime that runs workers and jobs as containers of an engine on its machine. `docs/runtimes.md` has its options. */
export const containers: AgentProgram = async (context) => {
  const { url, graceMs, env, options } = context
  const onProblem = (error: Error): void => context.onProblem('container', { what: 'work', error })
  const chosen = readContainerOptions(options, env, url)
  await using runtime = await openContainerRuntime({ ...chosen, state: requireState(context), graceMs, onProblem })
  await runRuntime(context, { type: 'container', runtime })
}
