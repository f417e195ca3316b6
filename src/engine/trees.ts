import type { LockedProject, Trees } from '../families/family.ts'
import type { EngineContext } from './context.ts'
import { lockTree } from './lock-tree.ts'
import { ProjectLane } from './project-lane.ts'
import { transaction } from './transaction.ts'

/**
 * Runs the transactions of commands. A command enqueues wake requests and the engine does the rest. A new tree is decided
 * at once, in the transaction that creates it, unless other calls wait for the project.
 */
export function treesOf(context: EngineContext): Trees {
  const lanes = new Map<string, ProjectLane>()
  const projectIds = new Map<string, string>()
  const laneOf = (name: string): ProjectLane => {
    const known = lanes.get(name)
    if (known) return known
    const lane = new ProjectLane(context, name, projectIds, () => lanes.delete(name))
    lanes.set(name, lane)
    return lane
  }
  return {
    inTree: (rootId, run) =>
      transaction(context, async (tx) => {
        const tree = await lockTree(tx, context, rootId)
        return typeof tree === 'string' ? null : await run(tree)
      }),
    inProject: <T>(name: string, run: (project: LockedProject) => Promise<T>, { canShare = false } = {}) =>
      laneOf(name).run({ run, canShare }) as Promise<T | null>,
  }
}
