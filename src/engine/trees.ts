import type { Trees } from '../families/family.ts'
import type { EngineContext } from './context.ts'
import { lockTree } from './locked-tree.ts'
import { ProjectLane } from './project-lane.ts'
import { transaction } from './transaction.ts'

/**
 * How commands write: in the engine's own transactions. A command enqueues wake requests and the engine does the rest. A
 * new tree that nobody has to wait for is decided at once, in the transaction that creates it.
 */
export function treesOf(context: EngineContext): Trees {
  const lanes = new Map<string, ProjectLane>()
  const projectIds = new Map<string, string>()
  return {
    inTree: (rootId, run) =>
      transaction(context, async (tx) => {
        const tree = await lockTree(tx, context, rootId)
        return typeof tree === 'string' ? null : await run(tree)
      }),
    async inProject(name, run, { canShare = false } = {}) {
      const lane = lanes.get(name) ?? new ProjectLane(context, name, projectIds)
      lanes.set(name, lane)
      try {
        return await lane.run({ run, canShare })
      } finally {
        if (lane.isIdle && lanes.get(name) === lane) lanes.delete(name)
      }
    },
  }
}
