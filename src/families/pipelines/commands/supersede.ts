import type { Strategy } from '../../../projects/rules/spec.ts'
import type { LockedProject } from '../../family.ts'
import { cancelWorkload } from '../rules/end-workload.ts'
import type { NewEvent } from '../rules/normalise-event.ts'
import { findWaitingWorkers } from '../store/event-queries.ts'

/** With LATEST_ONLY a new event cancels those of its source and type that wait. Called before it is created. */
export async function supersede(
  project: LockedProject,
  strategy: Strategy,
  { source, type }: Pick<NewEvent, 'source' | 'type'>,
): Promise<void> {
  if (strategy !== 'LATEST_ONLY') return
  for (const { rootId, workerId } of await findWaitingWorkers(project, source, type)) {
    const tree = await project.lockTree(rootId)
    await tree?.load([workerId])
    const worker = tree?.slice.get(workerId)
    if (!tree || worker?.row.phase !== 'PENDING') continue
    const message = 'A later event of the same source and type has taken its place.'
    cancelWorkload(worker, tree.slice, { actor: 'CONTROLLER', code: 'SUPERSEDED', message })
  }
}
