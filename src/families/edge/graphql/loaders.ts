import type { ObjectRow } from '../../../core/tree.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import type { BlockerValue, DeadlineValue } from '../../../graphql/family.ts'
import { loadSide, workLoader } from '../../../graphql/loaders.ts'
import { blockerValue } from '../../../graphql/objects/common-blockers.ts'
import { blockersOf } from '../rules/blockers.ts'
import { isRequested, isWorking, operationAt } from '../rules/operations.ts'
import { queryBlockerInputs } from '../store/blocker-queries.ts'
import { loadCloudlets, loadDrifted, loadInstances, loadLeases } from '../store/details.ts'

export const cloudletLoader = perOperation(({ pool }) => loadSide((ids) => loadCloudlets(pool, ids)))
export const instanceLoader = perOperation(({ pool }) => loadSide((ids) => loadInstances(pool, ids)))
export const leaseLoader = perOperation(({ pool }) => loadSide((ids) => loadLeases(pool, ids)))
export const driftedLoader = perOperation(({ pool }) => loadSide((ids) => loadDrifted(pool, ids)))

export async function blockers(
  { pool }: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly BlockerValue[])[]> {
  const ids = rows.map(({ id }) => id)
  const details = await queryBlockerInputs(pool, ids)
  return ids.map((id) => blockersOf(details.get(id)).map(blockerValue))
}

export async function deadlines(
  context: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly DeadlineValue[])[]> {
  return await Promise.all(
    rows.map((row) => (row.kind === 'CLOUDLET' ? ofCloudlet(row, context) : ofInstance(row, context))),
  )
}

const CONNECT = 'It goes offline if its CRM has not connected by then.'
const UPGRADE = 'The upgrade fails if its CRM has reported nothing by then.'
const SILENCE = 'The request fails if its CRM has reported nothing by then.'

async function ofCloudlet({ id, phaseSince }: ObjectRow, context: GraphQLContext): Promise<readonly DeadlineValue[]> {
  const details = await cloudletLoader(context).load(id)
  if (!details) return []
  const { connectDue, upgradeDue, upgradeSince } = details
  const connect = { name: 'connect', since: phaseSince, to: 'OFFLINE', message: CONNECT } as const
  const upgrade = { name: 'upgrade', since: upgradeSince ?? phaseSince, to: 'UPDATE_ERROR', message: UPGRADE } as const
  return [
    ...(connectDue ? [{ ...connect, expiresAt: connectDue }] : []),
    ...(upgradeDue ? [{ ...upgrade, expiresAt: upgradeDue }] : []),
  ]
}

async function ofInstance(
  { id, phase, phaseSince }: ObjectRow,
  context: GraphQLContext,
): Promise<readonly DeadlineValue[]> {
  if (!isRequested(phase) && !isWorking(phase)) return []
  const work = await workLoader(context).load(id)
  if (!work?.dueAt) return []
  const to = operationAt(phase)?.failed ?? null
  return [{ name: 'silence', since: phaseSince, expiresAt: work.dueAt, to, message: SILENCE }]
}
