import { type DryRun, runAgent, type Work } from '../client/index.ts'
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
  /** It works with the credentials of targets that it selects. */
  readonly usesCredentials?: boolean
  /** Absent: it does none. */
  readonly dryRun?: DryRun
}

/** Claims the work of one type and does it. */
export function claimWork(
  context: AgentContext,
  { type, work, dryRun, usesCredentials = false, ...defaults }: Claims,
): Promise<void> {
  const {
    client,
    name,
    targets,
    targetSelector,
    concurrency = defaults.concurrency,
    leaseMs = LEASE_MS,
    signal,
  } = context
  context.onReady(type)
  return runAgent({
    client,
    instance: `${type}-${name}`,
    types: [type],
    targets,
    targetSelector,
    // Only an operator who lets it select has it connect to what targets name.
    targetCredentials: usesCredentials && targetSelector !== undefined,
    concurrency,
    leaseMs,
    renewMs: RENEW_MS,
    drainMs: DRAIN_MS,
    signal,
    work,
    dryRun,
    onProblem: (problem) => context.onProblem(type, problem),
  })
}
