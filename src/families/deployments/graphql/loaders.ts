import { GATE } from '../../../core/deployers/gate.ts'
import { type ShownRetries, shownRetries } from '../../../core/retry.ts'
import type { ObjectRow } from '../../../core/tree.ts'
import type { Verb } from '../../../core/verb.ts'
import { agentsSince } from '../../../graphql/agents/agent.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import type { BlockerValue, DeadlineValue } from '../../../graphql/family.ts'
import { loadSide, specLoader, workLoader } from '../../../graphql/loaders.ts'
import { blockerValue } from '../../../graphql/objects/common-blockers.ts'
import { type Gate, mayApprove } from '../../gate.ts'
import { blockersOf } from '../rules/blockers.ts'
import { DEADLINE_MESSAGES, deadlinesOf, gateDeadlines } from '../rules/deadlines.ts'
import type { InstallationDetails, ItemRetry } from '../rules/details.ts'
import { authorsOf, gates } from '../rules/gate.ts'
import { type PendingRequest, pendingRequestsOf, stopOf } from '../rules/pending-requests.ts'
import { reconcileEffect } from '../rules/reconcile-effect.ts'
import { queryBlockerInputs } from '../store/blocker-queries.ts'
import {
  countItems,
  loadExecutions,
  loadInstallations,
  loadItems,
  loadItemTotals,
  loadJobs,
  loadLeftOut,
  loadRequested,
} from '../store/details.ts'

export const installationLoader = perOperation(({ pool }) => loadSide((ids) => loadInstallations(pool, ids)))
const jobLoader = perOperation(({ pool }) => loadSide((ids) => loadJobs(pool, ids)))
export const itemLoader = perOperation(({ pool }) => loadSide((ids) => loadItems(pool, ids)))
export const executionLoader = perOperation(({ pool }) => loadSide((ids) => loadExecutions(pool, ids)))
export const itemCountLoader = perOperation(({ pool }) => loadSide((ids) => countItems(pool, ids)))

/** The stored spec, in the shape that the family gives it; null once the object is deleted. */
export async function specOf<Spec>(context: GraphQLContext, id: string): Promise<Spec | null> {
  const row = await specLoader(context).load(id)
  return row && (row.spec as Spec)
}

export async function blockers(
  { pool, system }: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly BlockerValue[])[]> {
  const now = system.now()
  const details = await queryBlockerInputs(
    pool,
    rows.map(({ id }) => id),
    agentsSince(now),
    now,
  )
  return rows.map(({ id }) => blockersOf(id, details, now).map(blockerValue))
}

export async function deadlines(
  context: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly DeadlineValue[])[]> {
  const work = workLoader(context)
  // Only deploy items have work for agents.
  return await Promise.all(
    rows.map(async (row) => {
      const own = row.kind === 'DEPLOY_ITEM' ? await work.load(row.id) : null
      const gate = own?.type === GATE ? await gateOf(context, row) : null
      const all = own && gate ? gateDeadlines(gate, own) : deadlinesOf(own, row)
      return all.map((one) => ({ ...one, message: DEADLINE_MESSAGES[one.name] }))
    }),
  )
}

/** The gate at which an item waits; null: none. */
export async function gateOf(context: GraphQLContext, row: ObjectRow): Promise<Gate | null> {
  if (row.kind !== 'DEPLOY_ITEM' || row.phase !== 'INIT') return null
  const details = await itemLoader(context).load(row.id)
  // It may have been deleted meanwhile.
  return details && gates.waiting({ row, details })
}
export async function awaitsApproval(
  context: GraphQLContext,
  row: ObjectRow,
): Promise<{ readonly isAuthor: boolean } | null> {
  const gate = await gateOf(context, row)
  if (!gate?.approval) return null
  const root = await installationLoader(context).load(row.rootId)
  return {
    isAuthor: root !== null && !mayApprove(context.viewer.principalId, gate, authorsOf(root as InstallationDetails)),
  }
}

export async function attempts(
  context: GraphQLContext,
  { id, phase, phaseSince }: ObjectRow,
): Promise<ShownRetries | null> {
  const [item, work] = await Promise.all([itemLoader(context).load(id), workLoader(context).load(id)])
  const retry = item?.retry as ItemRetry | null | undefined
  if (!retry) return null
  const { instance = null, offerAfter = null } = work ?? {}
  const running = phase === 'PROGRESSING' ? { agent: instance, begunAt: phaseSince, notBefore: null } : null
  const next = phase === 'INIT' ? { agent: null, begunAt: null, notBefore: offerAfter } : running
  return shownRetries(retry, next, phase === 'FAILED')
}

export async function pendingRequests(
  { pool }: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly PendingRequest[])[]> {
  const ids = rows.filter(({ kind }) => kind !== 'EXECUTION').map(({ id }) => id)
  const found = ids.length > 0 ? await loadRequested(pool, ids) : new Map<string, never>()
  return rows.map((row) => {
    const requested = found.get(row.id)
    if (!requested) return []
    return row.kind === 'DEPLOY_ITEM' ? stopOf(requested) : pendingRequestsOf(requested, requested)
  })
}

const requestedLoader = perOperation(({ pool }) => loadSide((ids) => loadRequested(pool, ids)))
const itemTotalLoader = perOperation(({ pool }) => loadSide((ids) => loadItemTotals(pool, ids)))

/** Tells what a reconcile of a root runs: its label does not. */
export async function verbEffect(context: GraphQLContext, row: ObjectRow, verb: Verb): Promise<string | null> {
  if (verb.mutation !== 'reconcileInstallation' || row.parentId !== null) return null
  const [requested, items] = await Promise.all([
    requestedLoader(context).load(row.id),
    itemTotalLoader(context).load(row.id),
  ])
  if (!requested) return null
  const mode = verb.input.mode === 'IF_CHANGED' ? 'IF_CHANGED' : 'STANDARD'
  return reconcileEffect(mode, { row, requested, items: items ?? { total: 0, unsuccessful: 0 } })
}

export async function leftOut({ pool }: GraphQLContext, rows: readonly ObjectRow[]): Promise<readonly boolean[]> {
  const found = await loadLeftOut(
    pool,
    rows.map(({ id }) => id),
  )
  return rows.map(({ id }) => found.get(id)?.leftOut === true)
}

export async function outstanding(context: GraphQLContext, rows: readonly ObjectRow[]): Promise<readonly boolean[]> {
  const jobs = jobLoader(context)
  return await Promise.all(
    rows.map(async ({ id, kind, jobId }) => {
      if (kind !== 'INSTALLATION') return false
      const job = await jobs.load(id)
      // The job that was to begin when the row was read may have begun since, which shows in its id.
      return job !== null && (job.remembered || job.jobId !== jobId)
    }),
  )
}
