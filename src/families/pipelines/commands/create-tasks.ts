import { createHash } from 'node:crypto'
import type { RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { projectsWith } from '../../../core/rights.ts'
import { bytesOf } from '../../../projects/rules/names.ts'
import type { Keyed } from '../../../store/idempotency.ts'
import { refuse } from '../../access.ts'
import { creates } from '../../creation.ts'
import type { NewTask, TaskJob } from '../../tasks.ts'
import { rights } from '../rights.ts'
import type { EventSpec } from '../rules/normalise-event.ts'
import { findTaskSubscriptions } from '../store/event-queries.ts'
import type { PipelinesParts } from './parts.ts'

/** The longest value of a gadget's variable. */
const MAX_PAYLOAD = 16_384

/** Creates one task for each subscription with jobs. A request that is repeated with its key creates the missing ones. */
export async function createTasks(
  parts: PipelinesParts,
  viewer: Viewer,
  { idempotencyKey = null }: Keyed,
  event: EventSpec,
): Promise<Outcome<{ readonly taskIds: readonly string[] }, RefusalOf<'InvalidInputError' | 'ForbiddenError'>>> {
  const { pool, system, verbs } = parts
  const verb = verbs.createTask
  const taskIds: string[] = []
  if (!verb) return { ok: true, taskIds }
  // The author of a subscription has written its task, so it takes the right to create events.
  const createTask = creates('createTask', {
    right: rights.createEvent,
    judge: (_: PipelinesParts, by, task: NewTask) => verb.judge(by, task, rights.createEvent),
  })
  for (const { project, ordinal, jobs } of await findTaskSubscriptions(
    pool,
    event,
    projectsWith(viewer, rights.createEvent),
  )) {
    const seed = idempotencyKey === null ? system.id() : `${viewer.principalId} ${idempotencyKey}`
    const name = `event-task-${createHash('sha256').update(`${seed} ${project} ${ordinal}`).digest('hex').slice(0, 12)}`
    const labels = Object.entries(event.labels).map(([key, value]) => ({ key, value }))
    const own = { project, labels, jobs: jobs.map((job) => withEvent(job, event)) }
    const once = await createTask(parts, viewer, { ...own, name, idempotencyKey: name })
    // A key that is used again after a day is a new request, whose task needs another name.
    const isLate = !once.ok && once.refusal.type === 'ConflictError'
    const done = isLate ? await createTask(parts, viewer, { ...own, name: `event-task-${system.id()}` }) : once
    if (done.ok) taskIds.push(done.objectId)
    else if (done.refusal.type !== 'ConflictError') return refuse(done.refusal)
    else throw new Error(`The new name of an event's task is taken: ${done.refusal.message}`)
  }
  return { ok: true, taskIds }
}

/** Escapes the event's data, so that it contains no expressions. */
const quoted = (text: string): string => text.replaceAll('${', () => '$${')

function withEvent(job: TaskJob, { source, type, payload }: EventSpec): TaskJob {
  const eventEnv = [
    { name: 'GADGET_EVENT_SOURCE', value: quoted(source) },
    { name: 'GADGET_EVENT_TYPE', value: quoted(type) },
    ...(payload !== null && bytesOf(payload) <= MAX_PAYLOAD
      ? [{ name: 'GADGET_EVENT_PAYLOAD', value: quoted(payload) }]
      : []),
  ]
  return {
    ...job,
    env: [...(job.env ?? []).filter(({ name }) => !eventEnv.some((one) => one.name === name)), ...eventEnv],
  }
}
