import type { ObjectRow } from '../../../core/tree.ts'
import { agentsSince } from '../../../graphql/agent.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import type { BlockerValue } from '../../../graphql/family.ts'
import { loadSide } from '../../../graphql/loaders.ts'
import { blockersOf } from '../blockers.ts'
import { locksOf } from '../locks.ts'
import { loadJobs, loadJournals, loadTasks } from '../shown-facts.ts'
import { loadWaitingFacts } from '../waiting-facts.ts'

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
  { pool, ambient }: GraphQLContext,
  rows: readonly ObjectRow[],
): Promise<readonly (readonly BlockerValue[])[]> {
  const ids = rows.map(({ id }) => id)
  const facts = await loadWaitingFacts(pool, ids, agentsSince(ambient.now()))
  return ids.map((id) =>
    blockersOf(id, facts).map((blocker) => ({ ...blocker, __typename: TYPENAMES[blocker.reason] })),
  )
}
