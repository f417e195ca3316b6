import { LEASE_MS } from '../../../../agents/claim-work.ts'
import type { AgentContext } from '../../../../agents/program.ts'
import { type AgentProblem, runAgent } from '../../../../client/index.ts'
import { readReceipt } from './receipt.ts'
import { registerPlace } from './register-place.ts'
import type { Runtime } from './runtime.ts'
import { runtimeWork } from './runtime-work.ts'

/** `signal` ends the agent and none of its workloads: the next agent of the same runtime adopts them. */
export type RuntimeContext = Pick<AgentContext, 'client' | 'signal' | 'onProblem'> &
  Partial<Pick<AgentContext, 'onReady' | 'labels' | 'capacity' | 'concurrency' | 'leaseMs'>>
export interface RuntimeAgent {
  /** The work type that it claims, e.g. `process`. */
  readonly type: string
  /** Owned by the caller. */
  readonly runtime: Runtime
  readonly renewMs?: number
}

/** Workloads at the same time. */
const CONCURRENCY = 1_000

/**
 * The agent of a runtime: resumes the workloads of an earlier one, then claims START and REMOVE until the signal aborts.
 * @throws ClientError like runAgent
 */
export async function runRuntime(context: RuntimeContext, { type, runtime, renewMs }: RuntimeAgent): Promise<void> {
  const { client, labels, capacity, concurrency = CONCURRENCY, leaseMs = LEASE_MS, signal } = context
  const { instance } = runtime
  const onProblem = (problem: AgentProblem): void => context.onProblem(type, problem)
  const known = await runtime.list()
  context.onReady?.(type)
  await registerPlace(
    client,
    { name: instance, type, labels, capacity },
    { signal, onProblem: (error) => onProblem({ what: 'claim', error }) },
  )
  await runAgent({
    client,
    instance,
    types: [type],
    targets: [instance],
    concurrency,
    leaseMs,
    renewMs,
    drainMs: 0,
    pinned: true,
    resumed: known.flatMap(({ receipt }) => readReceipt(receipt) ?? []),
    signal,
    work: runtimeWork({ runtime, client, signal, onProblem: (problem) => onProblem({ what: 'work', ...problem }) }),
    onProblem,
  })
}
