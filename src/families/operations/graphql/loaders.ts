import { type ShownRetries, shownRetries } from '../../../core/retry.ts'
import type { ObjectRow } from '../../../core/tree.ts'
import { agentsSince } from '../../../graphql/agents/agent.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import type { BlockerValue, PendingRequestValue } from '../../../graphql/family.ts'
import { loadSide, workLoader } from '../../../graphql/loaders.ts'
import { blockerValue } from '../../../graphql/objects/common-blockers.ts'
import { startApproval } from '../../start-gate.ts'
import { blockersOf } from '../rules/blockers.ts'
import { gates } from '../rules/decide-job.ts'
import { isOver, type JobRetry } from '../rules/details.ts'
import { queryBlockerInputs } from '../store/blocker-queries.ts'
import { loadJobs, loadJournals, loadTasks } from '../store/details.ts'
import { locksOf } from '../store/lock-queries.ts'

export const taskLoader = perOperation(({ pool }) => loadSide((ids) => loadTasks(pool, ids)))
export const jobLoader = perOperation(({ pool }) => loadSide((ids) => loadJobs(pool, ids)))
export const journalLoader = perOperation(({ pool }) => loadSide((ids) => loadJournals(pool, ids)))
export const lockLoader = perOperation(({ pool }) => loadSide((ids) => locksOf(pool, ids)))

export async function attempts(context: GraphQLContext, { id, kind, phase }: ObjectRow): Promise<ShownRetries | null> {
  const [details, work] = await Promise.all([jobLoader(context).load(id), workLoader(context).load(id)])
  const retry = details?.retry as JobRetry | null | undefined
  if (kind !== 'GADGET_JOB' || !retry) return null
  const timeOf = (at: string | null) => (at === null ? null : new Date(at))
  const [begunAt, notBefore] = [timeOf(retry.begunAt), timeOf(retry.nextAt)]
  const agent = begunAt ? (work?.instance ?? null) : null
  return shownRetries(retry, isOver(phase) ? null : { agent, begunAt, notBefore }, phase === 'FAILED')
}

export async function blockers(
  { pool, system }: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly BlockerValue[])[]> {
  const ids = rows.map(({ id }) => id)
  const details = await queryBlockerInputs(pool, ids, agentsSince(system.now()), system.now())
  return ids.map((id) => blockersOf(id, details).map(blockerValue))
}

export async function awaitsApproval(context: GraphQLContext, row: ObjectRow) {
  const details = row.kind === 'GADGET_JOB' ? await jobLoader(context).load(row.id) : null
  return details && startApproval(gates, { row, details }, context.viewer)
}

/** A cancel waits until what runs has been cleaned up. */
export async function pendingRequests(
  context: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly PendingRequestValue[])[]> {
  return await Promise.all(
    rows.map(async ({ id, kind, phase, phaseSince }) => {
      if (kind !== 'TASK' || phase !== 'ABORTING') return []
      const by = (await taskLoader(context).load(id))?.cancelBy ?? null
      const message = 'Nothing more is started, and what runs is being stopped and cleaned up.'
      return [{ verb: 'cancel', mode: null, by, at: phaseSince, message }]
    }),
  )
}
