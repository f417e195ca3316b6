import { invalidInput, notFound, type RefusalOf, type RefusalType } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { projectsWith } from '../../../core/rights.ts'
import { idempotent } from '../../../store/idempotency.ts'
import { type CommandResult, findFor, inProject, noProject, refuse } from '../../access.ts'
import { rights } from '../rights.ts'
import { type EventInput, normaliseEvent } from '../rules/normalise-event.ts'
import { findProject, findSubscribers, readEvent, type Subscriber } from '../store/event-queries.ts'
import { createEventRoot, type NewEvent, takeFromProject } from './create-event-root.ts'
import { createTasks } from './create-tasks.ts'
import type { PipelinesParts } from './parts.ts'
import { supersede } from './supersede.ts'

export interface CreateEvent extends EventInput {
  /** Absent: every project with a matching subscription. */
  readonly project?: string | null
  readonly idempotencyKey?: string | null
  /** The hops of a delivery to a hook; absent: 0. */
  readonly hops?: number
}
export type CreatedEvents<Type extends RefusalType = RefusalType> = Outcome<
  { readonly eventIds: readonly string[]; readonly taskIds: readonly string[] },
  RefusalOf<Type>
>

type CreateRefusal = 'InvalidInputError' | 'ForbiddenError'

/** Creates an event for one project, or for each project with a matching subscription, which may be none. */
export async function createEvent(
  parts: PipelinesParts,
  viewer: Viewer,
  input: CreateEvent,
): Promise<CreatedEvents<CreateRefusal>> {
  const problems = new Problems()
  const spec = normaliseEvent(input, problems)
  if (input.project === '')
    problems.add('input.project', 'must not be empty: leave it out for all that have subscribed')
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return await create(parts, viewer, input, {
    ...spec,
    subscribed: !input.project,
    retryOf: null,
    cloneOf: null,
    hops: input.hops ?? 0,
  })
}

/** Repeats an event for its project as it is now, or for the projects with a matching subscription now. */
export async function cloneEvent(
  parts: PipelinesParts,
  viewer: Viewer,
  input: { readonly id: string; readonly idempotencyKey?: string | null },
): Promise<CreatedEvents<CreateRefusal | 'NotFoundError'>> {
  const located = await findFor(parts.pool, viewer, rights.createEvent, { id: input.id, what: 'event' })
  if (!located.ok) return located
  const event = await readEvent(parts.pool, input.id)
  if (!event) return refuse(notFound(input.id, 'event'))
  const project = event.subscribed ? null : located.found.projectName
  return await create(parts, viewer, { ...input, project }, { ...event, retryOf: null, cloneOf: input.id })
}

interface Wanted {
  readonly project?: string | null
  readonly idempotencyKey?: string | null
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
  if (input.project && projects.length === 0) return refuse(noProject(viewer, input.project))
  const eventIds: string[] = []
  for (const project of projects) {
    const done = await createIn(parts, viewer, project, input, event)
    if (done?.ok) eventIds.push(done.objectId)
    else if (done && (input.project || done.refusal !== NO_WORKERS)) return done
    else if (input.project) return refuse(noProject(viewer, input.project))
    // A project that was deleted, or has no workers any more, has no subscription.
  }
  const tasks = input.project ? { ok: true as const, taskIds: [] } : await createTasks(parts, viewer, input, event)
  return tasks.ok ? { ok: true, eventIds, taskIds: tasks.taskIds } : tasks
}

const NO_WORKERS = invalidInput([
  { path: 'input.project', message: 'has no worker template: nothing would be started for the event' },
])

/** Each project's event is created independently, so a request that is repeated with its key creates the missing ones. */
function createIn(
  { trees }: PipelinesParts,
  viewer: Viewer,
  { name, strategy }: Subscriber,
  input: Wanted,
  event: NewEvent,
): Promise<CommandResult<CreateRefusal> | null> {
  // An event that replaces others has to see them, so it does not share a transaction.
  const access = { right: rights.createEvent, project: name, canShare: strategy === 'QUEUE' }
  return inProject(trees, viewer, access, (project) =>
    idempotent(
      project,
      viewer,
      { mutation: event.cloneOf ? 'cloneEvent' : 'createEvent', input },
      async (): Promise<CommandResult<'InvalidInputError'>> => {
        const { template, number, strategy: now } = await takeFromProject(project)
        if (!template) return refuse(NO_WORKERS)
        await supersede(project, now, event)
        const { tree, worker } = createEventRoot(project, viewer, event, { spec: template, number })
        await tree.decideNow(worker)
        return { ok: true, objectId: tree.root.row.id }
      },
    ),
  )
}
