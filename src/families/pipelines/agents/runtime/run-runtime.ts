import { printProblems } from '../../../../client/agent/print-problems.ts'
import { type AgentProblem, type Client, runAgent } from '../../../../client/index.ts'
import { readReceipt } from './receipt.ts'
import { type PlaceOptions, registerPlace } from './register-place.ts'
import type { Runtime } from './runtime.ts'
import { runtimeWork } from './runtime-work.ts'

export interface RuntimeAgentOptions {
  readonly client: Client
  /** The work type that it claims, e.g. `process`. */
  readonly type: string
  /** Owned by the caller. */
  readonly runtime: Runtime
  /** Workloads at the same time; 1,000 by default. */
  readonly concurrency?: number | undefined
  /** Its place. */
  readonly place?: PlaceOptions | undefined
  readonly leaseMs?: number | undefined
  readonly renewMs?: number | undefined
  /** Ends the agent and none of its workloads: the next agent of the same runtime adopts them. */
  readonly signal: AbortSignal
  readonly onProblem?: ((problem: AgentProblem) => void) | undefined
}

const CONCURRENCY = 1_000

/**
 * The agent of a runtime: resumes the workloads of an earlier one, then claims START and REMOVE until the signal aborts.
 * @throws ClientError like runAgent
 */
export async function runRuntime(options: RuntimeAgentOptions): Promise<void> {
  const { client, type, runtime, signal } = options
  const { onProblem = printProblems(`Runtime ${runtime.instance}`) } = options
  const known = await runtime.list()
  const { instance: name } = runtime
  await registerPlace(
    client,
    { name, type, ...options.place },
    { signal, onProblem: (error) => onProblem({ what: 'claim', error }) },
  )
  await runAgent({
    client,
    instance: runtime.instance,
    types: [type],
    targets: [runtime.instance],
    concurrency: options.concurrency ?? CONCURRENCY,
    leaseMs: options.leaseMs,
    renewMs: options.renewMs,
    drainMs: 0,
    pinned: true,
    resumed: known.flatMap(({ receipt }) => readReceipt(receipt) ?? []),
    signal,
    work: runtimeWork({
      runtime,
      client,
      signal,
      onProblem: ({ error, objectId }) => onProblem({ what: 'work', error, objectId }),
    }),
    onProblem,
  })
}
