import { invalidInput, notFound, transitionRefused } from '../../../core/errors.ts'
import type { Outcome, Viewer } from '../../../core/ports.ts'
import { Problems } from '../../../core/problems.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { findObject } from '../../../store/objects.ts'
import { type Done, mayChange, mayRead, refuse } from '../../access.ts'
import type { HeldTree } from '../../family.ts'
import { cancelWorkload, deleteWorkload } from '../end-workload.ts'
import { findEvents, findMembers, findProject, findWorker } from '../event-queries.ts'
import { isOver } from '../facts.ts'
import { type EventFilterInput, normaliseFilter } from '../normalise-event.ts'
import type { PipelinesParts } from './parts.ts'

/** What users end: events one by one, or many by a filter. */

export const cancelEvent = (
  parts: PipelinesParts,
  viewer: Viewer,
  { id, reason }: { readonly id: string; readonly reason?: string | null },
): Promise<Done> => onEvent(parts, viewer, id, (held) => cancel(held, viewer, reason ?? null))

export const deleteEvent = (parts: PipelinesParts, viewer: Viewer, { id }: { readonly id: string }): Promise<Done> =>
  onEvent(parts, viewer, id, (held) => remove(held, viewer))

export type Changed = Outcome<{ readonly count: number }>

export const cancelEvents = (
  parts: PipelinesParts,
  viewer: Viewer,
  input: EventFilterInput & { readonly reason?: string | null },
): Promise<Changed> =>
  onMany(parts, viewer, input, { running: true }, (held) => cancel(held, viewer, input.reason ?? null))

export const deleteEvents = (parts: PipelinesParts, viewer: Viewer, input: EventFilterInput): Promise<Changed> =>
  onMany(parts, viewer, input, { running: false }, (held) => remove(held, viewer))

/** Runs on the tree of an event that the viewer may see and change. */
async function onEvent(
  parts: PipelinesParts,
  viewer: Viewer,
  id: string,
  work: (held: HeldTree) => Promise<Done>,
): Promise<Done> {
  const may = mayChange(viewer)
  if (may) return refuse(may)
  const found = await findObject(parts.pool, id)
  if (found?.kind !== 'EVENT' || !mayRead(viewer, found.projectName)) return refuse(notFound(id, 'event'))
  return (await parts.trees.inTree(id, work)) ?? refuse(notFound(id, 'event'))
}

/** So many trees at the same time: the connections of the trees' transactions are few. */
const AT_ONCE = 4

/** Each event in a transaction of its own: one that has moved on meanwhile is left alone. */
async function onMany(
  parts: PipelinesParts,
  viewer: Viewer,
  input: EventFilterInput,
  options: { readonly running: boolean },
  work: (held: HeldTree) => Promise<Done>,
): Promise<Changed> {
  const may = mayChange(viewer, input.project)
  if (may) return refuse(may)
  const problems = new Problems()
  const filter = normaliseFilter(input, problems, options)
  if ((await findProject(parts.pool, input.project)).length === 0)
    problems.add('input.project', `there is no project ${input.project}`)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const ids = (await findEvents(parts.pool, filter)).values()
  let count = 0
  const one = async (): Promise<void> => {
    for (const id of ids) {
      const done = await parts.trees.inTree(id, async (held) =>
        matches(held, filter.phases) ? await work(held) : null,
      )
      if (done?.ok) count += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  return { ok: true, count }
}

const matches = ({ root }: HeldTree, phases: readonly Phase[]): boolean => phases.includes(root.row.phase)

async function cancel(held: HeldTree, viewer: Viewer, reason: string | null): Promise<Done> {
  const { root, slice, client } = held
  const { kind, phase, id } = root.row
  const workerId = await findWorker(client, id)
  await held.bring(workerId ? [workerId] : [])
  const worker = slice.get(workerId ?? '')
  if (!worker || isOver(phase)) {
    const refusal = transitionRefused(kind, phase, 'USER', 'ABORTED', [])
    held.reject(root, 'ABORTED', viewer.name, 'It has ended already.')
    return refuse({ ...refusal, message: `It has ended already: it is ${phase}.` })
  }
  const message = reason ? `Cancelled by ${viewer.name}: ${reason}` : `Cancelled by ${viewer.name}.`
  cancelWorkload(worker, slice, { actor: 'USER', by: viewer.name, code: 'CANCELED', message })
  // Its jobs follow.
  held.wake([worker.row.id])
  return { ok: true, objectId: id }
}

async function remove(held: HeldTree, viewer: Viewer): Promise<Done> {
  const { root, slice, client } = held
  const members = await findMembers(client, root.row.id)
  await held.bring(members.map(({ id }) => id))
  for (const { id, kind } of members) {
    const node = slice.get(id)
    if (!node) continue
    if (kind === 'EVENT') slice.move(node, 'GONE', { actor: 'USER', by: viewer.name })
    else deleteWorkload(node, slice, viewer.name)
  }
  return { ok: true, objectId: root.row.id }
}
