import type { ObjectRow } from '../../../core/tree.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import type { ForecastValue } from '../../../graphql/family.ts'
import { loadSide, objectLoader, pauseLoader } from '../../../graphql/loaders.ts'
import type { InstallationPlan } from '../commands/plan-installation.ts'
import type { Forecast } from '../rules/forecast.ts'
import { forecastPlan, forecastRun } from '../rules/forecast-run.ts'
import { loadForecastFacts } from '../store/forecast-facts.ts'

/** One for each root: all objects of a tree have theirs from the same. */
const forecasts = perOperation((context: GraphQLContext) =>
  loadSide<Forecast>(async (rootIds) => {
    const found = new Map<string, Forecast>()
    // One after the other: each may read a hundred thousand changes.
    for (const id of rootIds) {
      const one = await forecastTree(context, id)
      if (one) found.set(id, one)
    }
    return found
  }),
)

async function forecastTree(context: GraphQLContext, rootId: string): Promise<Forecast | null> {
  const { pool, system } = context
  const [root, pause] = await Promise.all([objectLoader(context).load(rootId), pauseLoader(context).load(rootId)])
  if (!root?.jobId || root.jobId === root.finishedJobId || pause) return null
  const facts = await loadForecastFacts(pool, rootId, root.jobId)
  return facts && forecastRun(facts, system.now())
}

export async function forecast(context: GraphQLContext, { id, rootId }: ObjectRow): Promise<ForecastValue | null> {
  return (await forecasts(context).load(rootId))?.of(id) ?? null
}

export async function planForecast(
  { pool, system }: GraphQLContext,
  { rootId, name, spec }: NonNullable<InstallationPlan['rerun']>,
): Promise<ForecastValue | null> {
  const facts = await loadForecastFacts(pool, rootId, null)
  return facts && forecastPlan(facts, name, spec, system.now())
}
