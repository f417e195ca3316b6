import type { LockedProject, Trees } from '../families/family.ts'
import type { Client } from '../store/client.ts'
import type { EngineContext } from './context.ts'
import { ProjectLane } from './project-lane.ts'
import { RecordLane } from './record-lane.ts'
import type { TreeRunner } from './runner.ts'
import { TreeLocked } from './tree-locked.ts'

/** Bounds the locked trees for which one write under a project's lock waits, one after the other. */
const MAX_LOCKED = 16

/**
 * Runs the transactions of commands in the lanes of their trees and projects. A command enqueues wake requests and the engine
 * does the rest. A new tree is decided at once, in the transaction that creates it, unless other calls wait for the project.
 */
export function treesOf(context: EngineContext, runner: TreeRunner): Trees {
  const projectIds = new Map<string, string>()
  const laneOf = keyed((name, onIdle) => new ProjectLane(context, name, projectIds, onIdle))
  const recordLaneOf = keyed((subject, onIdle) => new RecordLane(context, subject, onIdle))
  return {
    inRecord: <T>(subject: string, work: (client: Client) => Promise<T>) =>
      recordLaneOf(subject).run(work) as Promise<T>,
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

/** One lane for each key, for as long as it has something to do. */
function keyed<L>(create: (key: string, onIdle: () => void) => L): (key: string) => L {
  const lanes = new Map<string, L>()
  return (key) => {
    const known = lanes.get(key)
    if (known) return known
    const lane = create(key, () => lanes.delete(key))
    lanes.set(key, lane)
    return lane
  }
}
