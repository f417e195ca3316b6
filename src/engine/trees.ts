import type { LockedProject, Trees } from '../families/family.ts'
import type { EngineContext } from './context.ts'
import { ProjectLane } from './project-lane.ts'
import type { TreeRunner } from './runner.ts'
import { TreeLocked } from './tree-locked.ts'

/** Bounds the locked trees for which one write under a project's lock waits, one after the other. */
const MAX_LOCKED = 16

/**
 * Runs the transactions of commands in the lanes of their trees and projects. A command enqueues wake requests and the engine
 * does the rest. A new tree is decided at once, in the transaction that creates it, unless other calls wait for the project.
 */
export function treesOf(context: EngineContext, runner: TreeRunner): Trees {
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
    async inTree(rootId, run) {
      const ran = await runner.command(rootId, run)
      return ran?.value ?? null
    },
    async inProject<T>(
      name: string,
      run: (project: LockedProject) => Promise<T>,
      { canShare = false }: { readonly canShare?: boolean } = {},
    ): Promise<T | null> {
      let write = () => laneOf(name).run({ run, canShare }) as Promise<T | null>
      for (let locked = 0; ; locked++) {
        try {
          return await write()
        } catch (error) {
          if (!(error instanceof TreeLocked) || locked === MAX_LOCKED) throw error
          // The tree is waited for in its own lane, without the project's lock.
          const { rootId } = error
          write = () => runner.afterLocked(rootId, () => laneOf(name).run({ run, canShare }) as Promise<T | null>)
        }
      }
    },
  }
}
