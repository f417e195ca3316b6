import { invalidInput, notFound, type RefusalOf, type RefusalType } from '../../../core/errors.ts'
import type { Outcome, WrittenObject } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { projectsWith } from '../../../core/rights.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { type CommandResult, findFor, noProject, onProject, refuse } from '../../access.ts'
import type { Judged } from '../../creation.ts'
import type { LockedProject } from '../../family.ts'
import { requireLimits } from '../../require-limits.ts'
import { rights } from '../rights.ts'
import { type EventInput, type NewEvent, normaliseEvent } from '../rules/normalise-event.ts'
import { findProject, findSubscribers, readEvent } from '../store/event-queries.ts'
import { createEventRoot, takeFromProject } from './create-event-root.ts'
import { createTasks } from './create-tasks.ts'
import type { PipelinesParts } from './parts.ts'
import { supersede } from './supersede.ts'

export interface ProjectEvent extends EventInput {
  /** The hops of a delivery to a hook; absent: 0. */
  readonly hops?: number
}
export interface CreateEvent extends ProjectEvent, Wanted {}

interface Wanted extends Keyed {
  /** Absent: every project with a matching subscription. */
  readonly project?: string | null
}
export interface Created {
  readonly eventIds: readonly string[]
  /** This very call has created these, so that they need not be read. */
  readonly events: readonly Written[]
  readonly taskIds: readonly string[]
}
export type CreatedEvents<Type extends RefusalType = RefusalType> = Outcome<Created, RefusalOf<Type>>

type Written = NonNullable<WrittenObject['object']>
type CreateRefusal = 'InvalidInputError' | 'ForbiddenError'

/** An event of the project that is locked. */
export const eventCreation = {
  right: rights.createEvent,
  async judge(_: PipelinesParts, viewer: Viewer, input: ProjectEvent): Promise<Judged<'InvalidInputError'>> {
    const problems = new Problems()
    const event = detailsOf(input, problems, { subscribed: false })
    if (problems.found.length > 0) return refuse(invalidInput(problems.found))
    return { ok: true, write: (project) => write(project, viewer, event) }
  },
}

const detailsOf = (
  input: ProjectEvent,
  problems: Problems,
  { subscribed }: Pick<NewEvent, 'subscribed'>,
): NewEvent => ({
  ...normaliseEvent(input, problems),
  subscribed,
  retryOf: null,
  cloneOf: null,
  hops: input.hops ?? 0,
})

async function write(
  project: LockedProject,
  viewer: Viewer,
  event: NewEvent,
): Promise<CommandResult<'InvalidInputError'>> {
  const { template, strategy, ...taken } = await takeFromProject(project)
  if (!template) return refuse(NO_WORKERS)
  // A project comes before its limits, so they are looked for when a worker is to ask for them.
  const asking = (template.limits ?? []).map(({ limit }) => ({
    limit,
    who: 'its worker template',
    path: 'input.project',
  }))
  const lacking = await requireLimits(project.client, project.projectId, asking)
  if (lacking) return refuse(lacking)
  await supersede(project, strategy, event)
  const { tree, worker } = createEventRoot(project, viewer, event, { ...taken, spec: template })
  await tree.decideNow(worker)
  return { ok: true, objectId: tree.root.row.id, object: tree.root }
}

const NO_WORKERS = invalidInput([
  { path: 'input.project', message: 'has no worker template: nothing would be started for the event' },
])

/** Creates an event for one project, or for each project with a matching subscription, which may be none. */
export async function createEvent(
  parts: PipelinesParts,
  viewer: Viewer,
  input: CreateEvent,
): Promise<CreatedEvents<CreateRefusal>> {
  const problems = new Problems()
  const event = detailsOf(input, problems, { subscribed: !input.project })
  if (input.project === '')
    problems.add('input.project', 'must not be empty: leave it out for all that have subscribed')
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return await create(parts, viewer, input, event)
}

/** Repeats an event for its project as it is now, or for the projects with a matching subscription now. */
export async function cloneEvent(
  parts: PipelinesParts,
  viewer: Viewer,
  input: Keyed & { readonly id: string },
): Promise<CreatedEvents<CreateRefusal | 'NotFoundError'>> {
  const located = await findFor(parts.pool, viewer, rights.createEvent, { id: input.id, what: 'event' })
  if (!located.ok) return located
  const event = await readEvent(parts.pool, input.id)
  if (!event) return refuse(notFound(input.id, 'event'))
  const project = event.subscribed ? null : located.found.projectName
  return await create(parts, viewer, { ...input, project }, { ...event, retryOf: null, cloneOf: input.id })
}

async function create(
  parts: PipelinesParts,
  viewer: Viewer,
  input: Wanted,
  event: NewEvent,
): Promise<CreatedEvents<CreateRefusal>> {
  const projects = input.project
    ? await findProject(parts.pool, input.project)
    : await findSubscribers(parts.pool, event, projectsWith(viewer, rights.createEvent))
  const missing = input.project ? noProject(viewer, input.project) : NO_WORKERS
  if (input.project && projects.length === 0) return refuse(missing)
  // Each project's event is created independently, so a request that is repeated with its key creates the missing ones.
  const once = byKey(event.cloneOf ? 'cloneEvent' : 'createEvent', input)
  const eventIds: string[] = []
  const events: Written[] = []
  const refusals: RefusalOf<CreateRefusal>[] = []
  for (const { name, strategy } of projects) {
    // An event that replaces others has to see them, so it does not share a transaction.
    const access = { right: rights.createEvent, project: name, canShare: strategy === 'QUEUE', once, missing }
    const done = await onProject(parts, viewer, access, (locked) => write(locked, viewer, event))
    if (done.ok) {
      eventIds.push(done.objectId)
      if (done.object) events.push(done.object)
    }
    // A project that was deleted, or has no workers any more, has no subscription. Any other refusal holds up no other project.
    else if (input.project || done.refusal !== NO_WORKERS) refusals.push(done.refusal)
  }
  const tasks = input.project ? { ok: true as const, taskIds: [] } : await createTasks(parts, viewer, input, event)
  const [refusal] = refusals
  if (refusal) return refuse(refusal)
  return tasks.ok ? { ok: true, eventIds, events, taskIds: tasks.taskIds } : tasks
}
