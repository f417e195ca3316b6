import type { ObjectRow } from '../../../core/tree.ts'
import { agentsSince } from '../../../graphql/agents/agent.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import type { BlockerValue } from '../../../graphql/family.ts'
import { loadSide } from '../../../graphql/loaders.ts'
import { queryBlockerInputs } from '../blocker-queries.ts'
import { blockersOf } from '../blockers.ts'
import { loadJobs, loadJournals, loadTasks } from '../detail-loaders.ts'
import { locksOf } from '../lock-queries.ts'

export const taskLoader = perOperation(({ pool }) => loadSide((ids) => loadTasks(pool, ids)))
export const jobLoader = perOperation(({ pool }) => loadSide((ids) => loadJobs(pool, ids)))
export const journalLoader = perOperation(({ pool }) => loadSide((ids) => loadJournals(pool, ids)))
export const lockLoader = perOperation(({ pool }) => loadSide((ids) => locksOf(pool, ids)))

const TYPENAMES = {
  DEPENDENCY: 'DependencyBlocker',
  CHILDREN: 'ChildrenBlocker',
  LOCK: 'LockBlocker',
  AGENT: 'AgentBlocker',
} as const

export async function blockers(
  { pool, system }: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly BlockerValue[])[]> {
  const ids = rows.map(({ id }) => id)
  const details = await queryBlockerInputs(pool, ids, agentsSince(system.now()))
  return ids.map((id) =>
    blockersOf(id, details).map((blocker) => ({ ...blocker, __typename: TYPENAMES[blocker.reason] })),
  )
}
