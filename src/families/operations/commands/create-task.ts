import { invalidInput } from '../../../core/errors.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { Principal, Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import type { Right } from '../../../core/rights.ts'
import type { Node } from '../../../core/tree.ts'
import { idempotent } from '../../../store/idempotency.ts'
import { type CommandResult, inProject, noProject, refuse } from '../../access.ts'
import type { LockedProject } from '../../family.ts'
import { rootNameTaken } from '../../root-name.ts'
import type { TaskJob } from '../../tasks.ts'
import { rights } from '../rights.ts'
import { checkOrder, expressionsOf, normaliseJobs } from '../rules/normalise-task.ts'
import type { JobSpec } from '../rules/spec.ts'
import type { OperationsParts } from './parts.ts'

export interface CreateTask {
  readonly project: string
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
  readonly jobs: readonly TaskJob[]
  readonly idempotencyKey?: string | null
}

export type CreateTaskResult = CommandResult<'InvalidInputError' | 'ConflictError' | 'ForbiddenError'>

export const createTask = (parts: OperationsParts, viewer: Viewer, input: CreateTask): Promise<CreateTaskResult> =>
  createTaskFor(parts, viewer, rights.create, input)

/** @param right in the project: an event creates the tasks that an author has written into it */
export async function createTaskFor(
  parts: OperationsParts,
  viewer: Viewer,
  right: Right,
  input: CreateTask,
): Promise<CreateTaskResult> {
  const problems = new Problems()
  if (!isName(input.name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(input.labels ?? [], problems)
  const jobs = await readJobs(parts, input.jobs, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const access = { right, project: input.project, canShare: true }
  const done = await inProject(parts.trees, viewer, access, (project) =>
    idempotent(project, viewer, { mutation: 'createTask', input }, async () => {
      const taken = await rootNameTaken(project, { kind: 'TASK', name: input.name, what: 'a task' })
      if (taken) return refuse(taken)
      const object = await createTaskRoot(project, { ...input, jobs, labels, by: viewer })
      return { ok: true, objectId: object.row.id, object }
    }),
  )
  return done ?? refuse(noProject(viewer, input.project))
}

/** The sandbox only parses expressions here. */
export async function readJobs(
  { sandbox }: Pick<OperationsParts, 'sandbox'>,
  input: readonly TaskJob[],
  problems: Problems,
  path = 'input.jobs',
): Promise<readonly JobSpec[]> {
  const jobs = normaliseJobs(input, path, problems)
  if (problems.found.length > 0) return jobs
  const sources = expressionsOf(jobs)
  const analysed = sources.length > 0 ? await sandbox.analyze(sources, 'task') : []
  const unread = { ok: false, message: 'could not be read' } as const
  checkOrder(jobs, path, new Map(sources.map((source, i) => [source, analysed[i] ?? unread])), problems)
  return jobs
}

interface NewTask {
  readonly name: string
  readonly jobs: readonly JobSpec[]
  readonly labels: Readonly<Record<string, string>>
  readonly by: Principal
}

async function createTaskRoot(project: LockedProject, { name, jobs, labels, by }: NewTask): Promise<Node> {
  const { slice, root, decideNow } = project.createRoot({ kind: 'TASK', name, spec: {}, labels, by, details: {} })
  const nodes = new Map(
    jobs.map((spec, ordinal) => {
      const details = { gadget: spec.gadget }
      const waitingFor = spec.dependsOn.length
      return [
        spec.name,
        slice.create(root, { kind: 'GADGET_JOB', name: spec.name, ordinal, spec, details, waitingFor, by }),
      ]
    }),
  )
  for (const { name: own, dependsOn } of jobs) {
    const node = nodes.get(own)
    if (node && dependsOn.length > 0)
      slice.setDependencies(
        node,
        dependsOn.flatMap((other) => nodes.get(other) ?? []),
      )
  }
  slice.setChildCounts(root, { total: jobs.length, open: jobs.length })
  await decideNow()
  return root
}
