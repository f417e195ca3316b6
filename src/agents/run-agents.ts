import { v7 as uuid } from 'uuid'
import { createClient } from '../client/index.ts'
import { untilSettled } from '../core/until-settled.ts'
import { type AgentArguments, type GivenOptions, readArguments, UsageError } from './arguments.ts'
import type { AgentContext, Programs } from './program.ts'
import { loadToken } from './token.ts'
import { traceAgents } from './trace-agents.ts'

export { UsageError }

export interface AgentsToRun extends Pick<AgentContext, 'onProblem'> {
  readonly options: GivenOptions
  readonly programs: Programs
  /** The token is removed from it: processes that the agent starts must not inherit it. */
  readonly env: NodeJS.ProcessEnv
  /** Ends them in order. */
  readonly signal: AbortSignal
  /** Called once all programs have what they need. */
  onStart?(args: AgentArguments, name: string): void
}

/**
 * Runs the agents of all types until the signal. When one fails, all end, so that the supervisor sees the failure.
 *
 * @throws UsageError for wrong options
 */
export async function runAgents({
  options,
  programs,
  env,
  signal: end,
  onStart,
  onProblem,
}: AgentsToRun): Promise<void> {
  const args = readArguments(options, programs)
  const token = await loadToken(args, env)
  await using _tracing = await traceAgents(env)
  const failed = new AbortController()
  await using client = createClient({ url: args.url, token: token.reveal() })
  const name = args.instance ?? `${process.pid}-${uuid().slice(-12)}`
  const unready = new Set(args.types)
  const context: AgentContext = {
    ...args,
    client,
    token,
    name,
    env,
    signal: AbortSignal.any([end, failed.signal]),
    onReady(type) {
      if (unready.delete(type) && unready.size === 0) onStart?.(args, name)
    },
    onProblem,
  }
  const agents = args.types.map(async (type) => {
    try {
      const program = await programs[type]?.load()
      await program?.(context)
    } finally {
      failed.abort()
    }
  })
  await untilSettled(agents)
}
