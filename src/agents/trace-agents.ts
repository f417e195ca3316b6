import packageJson from '../../package.json' with { type: 'json' }
import { judgeTracing, TRACING_SECRETS } from '../tracing/settings.ts'
import { startTracing } from '../tracing/start.ts'
import { UsageError } from './arguments.ts'
import { logEvent } from './log-event.ts'

/** The tracer of a process of agents, from the same variables as the server's. Null: none is configured. */
export async function traceAgents(env: NodeJS.ProcessEnv): Promise<AsyncDisposable | null> {
  const { tracing, problems } = judgeTracing(env)
  // Processes that this one starts must not inherit them.
  for (const name of TRACING_SECRETS) delete env[name]
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  if (!tracing) return null
  return await startTracing(tracing, {
    serviceName: 'phaseline-agents',
    version: packageJson.version,
    onLost: (spans, error) => logEvent('spans could not be sent', { spans, message: error?.message ?? 'no answer' }),
  })
}
