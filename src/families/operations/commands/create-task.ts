import { invalidInput } from '../../../core/errors.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { Viewer } from '../../../core/ports.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import type { Node } from '../../../core/tree.ts'
import { type Done, mayChange, refuse } from '../../access.ts'
import type { Scope } from '../../family.ts'
import { once } from '../../keys.ts'
import { rootNameTaken } from '../../root-name.ts'
import { checkOrder, expressionsOf, type JobInput, normaliseJobs } from '../normalise-task.ts'
import type { JobSpec } from '../spec.ts'
import type { OperationsParts } from './parts.ts'

export interface CreateTask {
  readonly project: string
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
  readonly jobs: readonly JobInput[]
  readonly idempotencyKey?: string | null
}

export async function createTask(parts: OperationsParts, viewer: Viewer, input: CreateTask): Promise<Done> {
  const may = mayChange(viewer, input.project)
  if (may) return refuse(may)
  const problems = new Problems()
  if (!isName(input.name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(input.labels ?? [], problems)
  const jobs = await readJobs(parts, input.jobs, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const done = await parts.trees.inScope(
    input.project,
    (scope) =>
      once(scope, viewer, 'createTask', input, async () => {
        const taken = await rootNameTaken(scope, { kind: 'TASK', name: input.name, what: 'a task' })
        if (taken) return refuse(taken)
        const object = plantTask(scope, { ...input, jobs, labels, by: viewer.name })
        return { ok: true, objectId: object.row.id, object }
      }),
    { joins: true },
  )
  return done ?? refuse(invalidInput([{ path: 'input.project', message: `there is no project ${input.project}` }]))
}

/** Expressions are only read here, in the sandbox. */
export async function readJobs(
  { sandbox }: Pick<OperationsParts, 'sandbox'>,
  input: readonly JobInput[],
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
  readonly by: string
}

function plantTask(scope: Scope, { name, jobs, labels, by }: NewTask): Node {
  const { slice, root, goOn } = scope.plant({ kind: 'TASK', name, spec: {}, labels, by, facts: {} })
  const nodes = new Map(
    jobs.map((spec, ordinal) => {
      const facts = { gadget: spec.gadget }
      const waitingFor = spec.dependsOn.length
      return [
        spec.name,
        slice.create(root, { kind: 'GADGET_JOB', name: spec.name, ordinal, spec, facts, waitingFor, by }),
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
  slice.setTally(root, { total: jobs.length, open: jobs.length })
  goOn()
  return root
}
