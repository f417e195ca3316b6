import { notFound, type RefusalOf } from '../../../core/errors.ts'
import type { Principal, Viewer } from '../../../core/ports/viewer.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { type CommandResult, findFor, onProject, refuse } from '../../access.ts'
import type { LockedProject, LockedTree } from '../../family.ts'
import { rights } from '../rights.ts'
import { isOver, SLOT } from '../rules/details.ts'
import { findSucceededJobs, findWorker, type KnownJob, readEvent, readWorkloadSpec } from '../store/event-queries.ts'
import { createEventRoot, takeFromProject, workloadDetails } from './create-event-root.ts'
import type { PipelinesParts } from './parts.ts'
import { supersede } from './supersede.ts'

/**
 * Creates a new event with the same worker as an ended one. Its succeeded jobs need not run again, unless they used the
 * workspace, which is a new one.
 */
export async function retryEvent(
  parts: PipelinesParts,
  viewer: Viewer,
  input: Keyed & { readonly id: string },
): Promise<CommandResult<'NotFoundError' | 'ConflictError' | 'InvalidInputError' | 'ForbiddenError'>> {
  const { id } = input
  const located = await findFor(parts.pool, viewer, rights.createEvent, { id, what: 'event' })
  if (!located.ok) return located
  const missing = notFound(id, 'event')
  const project = located.found.projectName
  const access = { right: rights.createEvent, project, once: byKey('retryEvent', input), missing }
  return await onProject(parts, viewer, access, (locked) => retry(locked, viewer, id))
}

async function retry(
  project: LockedProject,
  viewer: Viewer,
  id: string,
): Promise<CommandResult<'NotFoundError' | 'ConflictError'>> {
  const { client } = project
  // Locked, so that it is not deleted meanwhile.
  const original = await project.lockTree(id)
  const workerId = original && (await findWorker(client, id))
  const event = await readEvent(client, id)
  const spec = workerId ? await readWorkloadSpec(client, workerId) : null
  if (!original || !workerId || !event || !spec) return refuse(notFound(id, 'event'))
  if (!isOver(original.root.row.phase)) return refuse(stillRuns(original))
  const { template: _, strategy, ...taken } = await takeFromProject(project)
  await supersede(project, strategy, event)
  const { tree, worker } = createEventRoot(
    project,
    viewer,
    { ...event, retryOf: id, cloneOf: null },
    { ...taken, spec },
  )
  const inherited = (await findSucceededJobs(client, workerId)).filter(({ usesWorkspace }) => !usesWorkspace)
  for (const [ordinal, job] of inherited.entries()) inherit(tree, worker, job, { ordinal, by: viewer })
  await tree.decideNow(worker)
  return { ok: true, objectId: tree.root.row.id, object: tree.root }
}

const stillRuns = ({ root }: LockedTree): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'BUSY',
  message: `The event ${root.row.name} is ${root.row.phase}: cancel it, or wait for its end, before it is retried.`,
  objectId: root.row.id,
})

function inherit(
  { slice }: LockedTree,
  worker: Parameters<LockedTree['slice']['create']>[0],
  { id, name, spec, inheritedFrom }: KnownJob,
  { ordinal, by }: { readonly ordinal: number; readonly by: Principal },
): void {
  const details = {
    ...workloadDetails(spec, { projectId: worker.row.projectId, pool: 'JOB' }),
    state: SLOT.OVER,
    inheritedFrom: inheritedFrom ?? id,
    endedAt: slice.now,
  }
  const job = slice.create(worker, { kind: 'JOB', name, ordinal, spec, details, by })
  slice.move(job, 'SUCCEEDED', { reason: 'inherited', message: 'Inherited from the event that is retried.' })
}
