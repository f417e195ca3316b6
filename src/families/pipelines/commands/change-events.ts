import { canRead } from '../../../core/can-read.ts'
import { invalidInput, type RefusalOf, transitionRefused } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { type Right, requireRight } from '../../../core/rights.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { findProjectId } from '../../../store/projects.ts'
import { type CommandResult, type Fenced, ifUnchanged, inTree, noProject, onObject, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { rights } from '../rights.ts'
import { isOver } from '../rules/details.ts'
import { cancelWorkload, deleteWorkload } from '../rules/end-workload.ts'
import { type EventFilterInput, normaliseFilter } from '../rules/normalise-event.ts'
import { findEventObjects, findEvents, findWorker } from '../store/event-queries.ts'
import type { PipelinesParts } from './parts.ts'

/** Commands that end events, one by one or many by a filter. */

interface CancelEvent extends Keyed, Fenced {
  readonly id: string
  readonly reason?: string | null
}
export const cancelEvent = (
  parts: PipelinesParts,
  viewer: Viewer,
  input: CancelEvent,
): Promise<
  CommandResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'TransitionError' | 'ForbiddenError'>
> =>
  onObject(
    parts,
    viewer,
    { right: rights.cancelEvent, id: input.id, what: 'event', once: byKey('cancelEvent', input) },
    (tree) => ifUnchanged(tree, input, () => cancel(tree, viewer, input.reason ?? null)),
  )

interface DeleteEvent extends Fenced {
  readonly id: string
}
export const deleteEvent = (
  parts: PipelinesParts,
  viewer: Viewer,
  input: DeleteEvent,
): Promise<CommandResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>> =>
  onObject(parts, viewer, { right: rights.deleteEvent, id: input.id, what: 'event' }, (tree) =>
    ifUnchanged(tree, input, () => remove(tree, viewer)),
  )

export type Changed = Outcome<{ readonly count: number }, RefusalOf<'InvalidInputError' | 'ForbiddenError'>>

export const cancelEvents = (
  parts: PipelinesParts,
  viewer: Viewer,
  input: EventFilterInput & { readonly reason?: string | null },
): Promise<Changed> =>
  onMany(parts, viewer, input, { right: rights.cancelEvent, running: true }, (tree) =>
    cancel(tree, viewer, input.reason ?? null),
  )

export const deleteEvents = (parts: PipelinesParts, viewer: Viewer, input: EventFilterInput): Promise<Changed> =>
  onMany(parts, viewer, input, { right: rights.deleteEvent, running: false }, (tree) => remove(tree, viewer))

/** Bounds the trees at a time, since their transactions have few connections. */
const AT_ONCE = 4

/** Changes each event in a transaction of its own and skips those that have moved meanwhile. */
async function onMany(
  parts: PipelinesParts,
  viewer: Viewer,
  input: EventFilterInput,
  { right, running }: { readonly right: Right; readonly running: boolean },
  work: (tree: LockedTree) => Promise<CommandResult>,
): Promise<Changed> {
  const never = requireRight(viewer, right)
  if (never) return refuse(never)
  const projectId = await findProjectId(parts.pool, input.project)
  if (projectId === null || !canRead(viewer, { projectId })) return refuse(noProject(viewer, input.project))
  const refused = requireRight(viewer, right, projectId)
  if (refused) return refuse(refused)
  const problems = new Problems()
  const filter = normaliseFilter(input, problems, { running })
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const ids = (await findEvents(parts.pool, projectId, filter)).values()
  let count = 0
  const one = async (): Promise<void> => {
    for (const id of ids) {
      const done = await inTree(parts.trees, viewer, id, async (tree) =>
        matches(tree, filter.phases) ? await work(tree) : null,
      )
      if (done?.ok) count += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  return { ok: true, count }
}

const matches = ({ root }: LockedTree, phases: readonly Phase[]): boolean => phases.includes(root.row.phase)

async function cancel(
  tree: LockedTree,
  viewer: Viewer,
  reason: string | null,
): Promise<CommandResult<'TransitionError'>> {
  const { root, slice, client } = tree
  const { kind, phase, id } = root.row
  const workerId = await findWorker(client, id)
  await tree.load(workerId ? [workerId] : [])
  const worker = slice.get(workerId ?? '')
  if (!worker || isOver(phase)) {
    const refusal = transitionRefused(kind, phase, 'USER', 'ABORTED', [])
    tree.reject(root, 'ABORTED', viewer, 'It has ended already.')
    return refuse({ ...refusal, message: `It has ended already: it is ${phase}.` })
  }
  const message = reason ? `Cancelled by ${viewer.name}: ${reason}` : `Cancelled by ${viewer.name}.`
  cancelWorkload(worker, slice, { actor: 'USER', by: viewer, code: 'CANCELED', message })
  // The rules end its jobs.
  tree.wake([worker.row.id])
  return { ok: true, objectId: id }
}

async function remove(tree: LockedTree, viewer: Viewer): Promise<CommandResult<never>> {
  const { root, slice, client } = tree
  const objects = await findEventObjects(client, root.row.id)
  await tree.load(objects.map(({ id }) => id))
  for (const { id, kind } of objects) {
    const node = slice.get(id)
    if (!node) continue
    if (kind === 'EVENT') slice.move(node, 'GONE', { actor: 'USER', by: viewer })
    else deleteWorkload(node, slice, viewer)
  }
  return { ok: true, objectId: root.row.id }
}
