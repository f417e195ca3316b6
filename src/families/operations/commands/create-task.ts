import { invalidInput } from '../../../core/errors.ts'
import { labelsOf } from '../../../core/labels.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { type CommandResult, refuse } from '../../access.ts'
import { creates, type Judged } from '../../creation.ts'
import type { LockedProject } from '../../family.ts'
import { rootNameTaken } from '../../root-name.ts'
import { futureGate } from '../../start-gate.ts'
import type { NewTask, TaskJob } from '../../tasks.ts'
import { rights } from '../rights.ts'
import type { JobDetails } from '../rules/details.ts'
import { checkOrder, expressionsOf, normaliseJobs } from '../rules/normalise-task.ts'
import type { JobSpec } from '../rules/spec.ts'
import type { OperationsParts } from './parts.ts'

export const taskCreation = { right: rights.create, judge }
export const createTask = creates('createTask', taskCreation)

async function judge(
  parts: OperationsParts,
  viewer: Viewer,
  { name, labels: given, jobs: wanted }: NewTask,
): Promise<Judged<'ConflictError'>> {
  const problems = new Problems()
  if (!isName(name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(given ?? [], problems)
  const jobs = await readJobs(parts, wanted, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return { ok: true, canShare: true, write: (project) => writeTask(project, viewer, { name, labels, jobs }) }
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

interface JudgedTask {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly jobs: readonly JobSpec[]
  /** The exports of jobs that do not run, since they are DONE in another task. */
  readonly inherited?: ReadonlyMap<string, JobDetails['exports']>
  /** The task whose jobs it runs again. */
  readonly retryOf?: { readonly id: string; readonly name: string }
}

export async function writeTask(
  project: LockedProject,
  by: Viewer,
  { name, labels, jobs, inherited = new Map(), retryOf }: JudgedTask,
): Promise<CommandResult<'ConflictError'>> {
  const taken = await rootNameTaken(project, { kind: 'TASK', name, what: 'a task' })
  if (taken) return refuse(taken)
  const details = { retryOf: retryOf?.id ?? null }
  const { slice, root, decideNow } = project.createRoot({ kind: 'TASK', name, spec: {}, labels, by, details })
  const nodes = new Map(
    jobs.map((spec, ordinal) => {
      const details = { gadget: spec.gadget, gate: spec.gate ? futureGate(spec.gate, slice.now, by.principalId) : null }
      const waitingFor = spec.dependsOn.filter((other) => !inherited.has(other)).length
      const node = slice.create(root, { kind: 'GADGET_JOB', name: spec.name, ordinal, spec, details, waitingFor, by })
      const exports = inherited.get(spec.name)
      if (exports !== undefined) {
        slice.setDetails(node, { exports, endedAt: slice.now })
        slice.move(node, 'DONE', { reason: 'inherited', message: `Inherited from the task ${retryOf?.name}.` })
      }
      return [spec.name, node]
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
  slice.setChildCounts(root, { total: jobs.length, open: jobs.length - inherited.size })
  await decideNow()
  return { ok: true, objectId: root.row.id, object: root }
}
