import { forbidden, invalidInput, notFound, type RefusalOf, transitionRefused } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { allowedFrom } from '../../../core/machine.ts'
import type { Principal, Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { requireRight } from '../../../core/rights.ts'
import type { Node } from '../../../core/tree.ts'
import { checkName } from '../../../projects/rules/names.ts'
import { normaliseWorkload, type WorkloadInput } from '../../../projects/rules/normalise-workload.ts'
import type { WorkloadSpec } from '../../../projects/rules/spec.ts'
import { findCreator } from '../../../store/creator.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { type CommandResult, onFound, onObject, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { requireLimits } from '../../require-limits.ts'
import { announceGate, newStartGate, type StartGate } from '../../start-gate.ts'
import { worker as machine, STARTED } from '../machines.ts'
import { rights } from '../rights.ts'
import { endedAttempts, isOfEarlierAttempt } from '../rules/attempts.ts'
import { isOver, workload } from '../rules/details.ts'
import { cancelWorkload, deleteWorkload, endWorkload } from '../rules/end-workload.ts'
import { countJobs, findJob, findWorker, readWorkloadSpec } from '../store/event-queries.ts'
import { workloadDetails } from './create-event-root.ts'
import type { PipelinesParts } from './parts.ts'

/** Commands of a worker on the jobs of its event. */

export interface CreateJob {
  readonly name: string
  readonly spec: WorkloadInput
}

type CreateJobResult = CommandResult<
  'InvalidInputError' | 'ConflictError' | 'ForbiddenError' | 'NotFoundError' | 'LimitError'
>

/** Bounds the jobs of one event. */
const MAX_JOBS = 1_000

/**
 * Creates a job of the worker's event. The same name with the same spec is the same job, so a request may be repeated. A
 * job that was inherited from a retried event matches any spec.
 */
export async function createJob(parts: PipelinesParts, viewer: Viewer, input: CreateJob): Promise<CreateJobResult> {
  const { rootId: eventId } = viewer
  const refused = requireRight(viewer, rights.createJob)
  if (refused) return refuse(refused)
  if (!eventId) return refuse(forbidden('Only a worker may create jobs, with the token that it was started with.'))
  return await onFound(parts, viewer, { id: eventId, rootId: eventId }, { what: 'event' }, async (tree) => {
    const workerId = await findWorker(tree.client, eventId)
    await tree.load(workerId ? [workerId] : [])
    const worker = tree.slice.get(workerId ?? '')
    return worker ? await create(tree, worker, viewer, input) : refuse(notFound(eventId, 'worker'))
  })
}

async function create(tree: LockedTree, worker: Node, viewer: Viewer, input: CreateJob): Promise<CreateJobResult> {
  const { phase, id } = worker.row
  // UNKNOWN concerns its runtime. The worker's own token proves that the worker lives.
  if (!STARTED.includes(phase)) return refuse(notRunning(worker))
  const late = lateAttempt(worker, viewer)
  if (late) return refuse(late)
  const workerSpec = await readWorkloadSpec(tree.client, id)
  if (!workerSpec) return refuse(notFound(id, 'worker'))
  const problems = new Problems()
  checkName(input.name, 'input.name', problems)
  const spec = normaliseWorkload(input.spec, 'input.spec', problems, workerSpec)
  if (spec.workspace && !workerSpec.workspace) problems.add('input.spec.workspace', 'its worker has no workspace')
  if (spec.workspace && spec.clone)
    problems.add('input.spec.clone', 'must be left out with workspace: it works in the folder of its worker')
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const known = await findJob(tree.client, id, input.name)
  const job = known && (await earlierJob(tree, worker, known.id))
  if (job && isInherited(job)) return { ok: true, objectId: job.row.id }
  if (!job && known) {
    const same = known.inheritedFrom !== null || sameJson(known.spec, spec)
    return same ? { ok: true, objectId: known.id } : refuse(nameTaken(known))
  }
  // A limit that is gone since an earlier attempt keeps no later one from its jobs.
  const added = job && sameJson(known.spec, spec) ? [] : (spec.limits ?? [])
  const asking = added.map(({ limit }, i) => ({ limit, who: 'it', path: `input.spec.limits.${i}.limit` }))
  const lacking = await requireLimits(tree.client, worker.row.projectId, asking)
  if (lacking) return refuse(lacking)
  if (job) deleteWorkload(job, tree.slice, viewer, 'CONTROLLER')
  const count = await countJobs(tree.client, id)
  if (!job && count >= MAX_JOBS) {
    return refuse({ type: 'LimitError', message: `An event has at most ${MAX_JOBS} jobs.`, limit: MAX_JOBS })
  }
  const authorId = spec.gate ? await findCreator(tree.client, tree.root.row.id) : null
  const gate = spec.gate ? newStartGate(spec.gate, tree.slice.now, authorId) : null
  return {
    ok: true,
    objectId: createJobObject(tree, worker, { name: input.name, spec, ordinal: count, by: viewer, gate }),
  }
}

/** A worker decides nothing after the end of its attempt, though its process may still run. */
const lateAttempt = (worker: Node | null, viewer: Viewer): RefusalOf<'ForbiddenError'> | null =>
  viewer.actor !== 'WORKER' || !worker || (viewer.attempt ?? 0) === endedAttempts(worker)
    ? null
    : forbidden('This attempt of the worker has ended: a later one has another token.')

/** The job of this id, if an earlier attempt of the worker has created it. */
async function earlierJob(tree: LockedTree, worker: Node, id: string): Promise<Node | null> {
  if (endedAttempts(worker) === 0) return null
  await tree.load([id])
  const job = tree.slice.get(id)
  return job && isOfEarlierAttempt(job, worker) ? job : null
}

/** As in an event that is retried: what has succeeded in the workspace is gone with it. */
const isInherited = (job: Node): boolean => job.row.phase === 'SUCCEEDED' && !workload(job).usesWorkspace

interface NewJob {
  readonly name: string
  readonly spec: WorkloadSpec
  readonly ordinal: number
  readonly by: Principal
  readonly gate: StartGate | null
}
function createJobObject({ slice, wake }: LockedTree, worker: Node, { name, spec, ordinal, by, gate }: NewJob): string {
  const of = { projectId: worker.row.projectId, pool: 'JOB', workerAttempt: endedAttempts(worker) } as const
  const details = workloadDetails(spec, { ...of, gate })
  const job = slice.create(worker, { kind: 'JOB', name, ordinal, spec, details, by })
  if (gate) announceGate(job, gate, slice)
  wake([job.row.id])
  return job.row.id
}

const nameTaken = ({ id, name }: { id: string; name: string }): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'ALREADY_EXISTS',
  message: `The event has a job ${name} already, with another spec.`,
  objectId: id,
})
const notRunning = (worker: Node): RefusalOf<'ConflictError' | 'ForbiddenError'> =>
  isOver(worker.row.phase)
    ? forbidden(`The worker has ended: it is ${worker.row.phase}.`)
    : {
        type: 'ConflictError',
        code: 'NOT_READY',
        message: `The worker is ${worker.row.phase}: jobs are created once it is STARTING.`,
        objectId: worker.row.id,
      }

export interface CancelJob extends Keyed {
  readonly id: string
  readonly reason?: string | null
  /** The worker has timed the job out. */
  readonly timedOut: boolean
}

/** Cancels a job for its worker or a user. */
export const cancelJob = (
  parts: PipelinesParts,
  viewer: Viewer,
  input: CancelJob,
): Promise<CommandResult<'InvalidInputError' | 'NotFoundError' | 'TransitionError' | 'ForbiddenError'>> =>
  onObject(
    parts,
    viewer,
    { right: rights.cancelJob, id: input.id, what: 'job', once: byKey('cancelJob', input) },
    (tree, job): CommandResult<'TransitionError' | 'ForbiddenError'> => {
      const late = lateAttempt(tree.slice.parent(job), viewer)
      return late ? refuse(late) : cancel(tree, job, viewer, input)
    },
  )

function cancel(
  { slice, reject }: LockedTree,
  job: Node,
  viewer: Viewer,
  { reason, timedOut }: CancelJob,
): CommandResult<'TransitionError'> {
  const { phase, kind, id } = job.row
  const actor = viewer.actor === 'WORKER' ? 'WORKER' : 'USER'
  const isTimeout = timedOut && phase !== 'PENDING'
  const to = isTimeout ? 'TIMED_OUT' : 'ABORTED'
  if (isOver(phase)) {
    reject(job, to, viewer, 'It has ended already.', { actor })
    const refusal = transitionRefused(kind, phase, actor, to, [])
    return refuse({ ...refusal, message: `It has ended already: it is ${phase}.` })
  }
  if (isTimeout && actor !== 'WORKER') {
    reject(job, to, viewer, 'Only its worker times a job out.', { actor })
    return refuse(transitionRefused(kind, phase, actor, to, allowedFrom(machine, phase, actor)))
  }
  const why = reason ? `: ${reason}` : '.'
  if (isTimeout) {
    const error = { code: 'TIMEOUT', message: `It took longer than its worker allows${why}` }
    endWorkload(job, slice, { to, actor, by: viewer, error })
  } else {
    const message = `Cancelled by ${viewer.name}${why}`
    cancelWorkload(job, slice, { actor, by: viewer, code: 'CANCELED', message })
  }
  return { ok: true, objectId: id }
}
