import { runAgent, type Work } from '../client/index.ts'
import type { AgentContext } from './program.ts'

/** Short, so that an abort request is noticed soon. */
const RENEW_MS = 2_000
/** After so long another agent takes over the work of one that died. */
export const LEASE_MS = 15_000
const DRAIN_MS = 3_000

interface Claims {
  readonly type: string
  /** Items at the same time, unless the arguments say otherwise. */
  readonly concurrency: number
  readonly work: Work
}

/** Claims the work of one type and does it. */
export function claimWork(context: AgentContext, { type, work, ...defaults }: Claims): Promise<void> {
  const { client, name, targets, concurrency = defaults.concurrency, leaseMs = LEASE_MS, signal } = context
  return runAgent({
    client,
    instance: `${type}-${name}`,
    types: [type],
    targets,
    concurrency,
    leaseMs,
    renewMs: RENEW_MS,
    drainMs: DRAIN_MS,
    signal,
    work,
    onProblem: (problem) => context.onProblem(type, problem),
  })
}
