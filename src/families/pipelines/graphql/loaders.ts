import { type ShownRetries, shownRetries } from '../../../core/retry.ts'
import type { ObjectRow } from '../../../core/tree.ts'
import { agentsSince } from '../../../graphql/agents/agent.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import type { BlockerValue, DeadlineValue } from '../../../graphql/family.ts'
import { loadSide, specLoader, workLoader } from '../../../graphql/loaders.ts'
import { blockerValue } from '../../../graphql/objects/common-blockers.ts'
import type { WorkloadSpec } from '../../../projects/rules/spec.ts'
import { type StartGate, startApproval } from '../../start-gate.ts'
import { worker as machine } from '../machines.ts'
import { blockersOf } from '../rules/blockers.ts'
import { CLOCK_MESSAGES, clocksOf } from '../rules/clocks.ts'
import { isOver, type WorkloadRetry } from '../rules/details.ts'
import { gates } from '../rules/gate.ts'
import { queryBlockerInputs } from '../store/blocker-queries.ts'
import { loadClocks, loadEvents, loadPayloads, loadWorkers, loadWorkloads } from '../store/details.ts'

export const eventLoader = perOperation(({ pool }) => loadSide((ids) => loadEvents(pool, ids)))
export const payloadLoader = perOperation(({ pool }) => loadSide((ids) => loadPayloads(pool, ids)))
export const workerLoader = perOperation(({ pool }) => loadSide((ids) => loadWorkers(pool, ids)))
export const workloadLoader = perOperation(({ pool }) => loadSide((ids) => loadWorkloads(pool, ids)))
const clockLoader = perOperation(({ pool }) => loadSide((ids) => loadClocks(pool, ids)))

/** Null once the object is deleted. */
export async function specOf(context: GraphQLContext, id: string): Promise<WorkloadSpec | null> {
  const row = await specLoader(context).load(id)
  return row && (row.spec as WorkloadSpec)
}

export async function blockers(
  { pool, system }: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly BlockerValue[])[]> {
  const details = await queryBlockerInputs(pool, rows, agentsSince(system.now()), system.now())
  return rows.map(({ id }) => blockersOf(id, details).map(blockerValue))
}

export async function attempts(context: GraphQLContext, { id, phase }: ObjectRow): Promise<ShownRetries | null> {
  const [details, work] = await Promise.all([workloadLoader(context).load(id), workLoader(context).load(id)])
  const retry = details?.retry as WorkloadRetry | null | undefined
  if (!retry) return null
  const notBefore = retry.nextAt === null ? null : new Date(retry.nextAt)
  const { instance = null, pickedUpAt = null } = work ?? {}
  const running = isOver(phase) ? null : { agent: instance, begunAt: pickedUpAt, notBefore: null }
  const next = phase === 'PENDING' ? { agent: null, begunAt: null, notBefore } : running
  return shownRetries(retry, next, machine.classes.get(phase) === 'FAILED')
}

/** The gate of a worker or job; null: it has none. */
export async function gateOf(context: GraphQLContext, id: string): Promise<StartGate | null> {
  return ((await workloadLoader(context).load(id))?.gate as StartGate | null | undefined) ?? null
}
export async function awaitsApproval(
  context: GraphQLContext,
  row: ObjectRow,
): Promise<{ readonly isAuthor: boolean } | null> {
  const details = row.kind === 'EVENT' ? null : await workloadLoader(context).load(row.id)
  return details && startApproval(gates, { row, details }, context.viewer)
}

/** An event has the deadlines of its worker. */
export async function deadlines(
  context: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly DeadlineValue[])[]> {
  return await Promise.all(
    rows.map(async (row) => {
      const workload = row.kind === 'EVENT' ? await workerLoader(context).load(row.id) : row
      if (!workload) return []
      const [clock, details] = await Promise.all([
        clockLoader(context).load(workload.id),
        workloadLoader(context).load(workload.id),
      ])
      const { endedAt, removeAt, removedAt, startedAt = null } = details ?? {}
      const retry = details?.retry as WorkloadRetry | null | undefined
      const clocks = clocksOf(
        {
          ...workload,
          work: clock && { ...clock, action: 'START' },
          startedAt,
          attemptMs: retry?.policy.attemptTimeoutMs ?? null,
          removal: endedAt && removeAt && !removedAt ? { since: endedAt, at: removeAt } : null,
        },
        context.pipelines.timeouts,
      )
      return clocks.map((one) => ({ ...one, message: CLOCK_MESSAGES[one.name] }))
    }),
  )
}
