import { invalidInput, type RefusalOf, type RefusalType } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { Problems } from '../../core/problems.ts'
import { RIGHTS, requireRight } from '../../core/rights.ts'
import { refuse } from '../../families/access.ts'
import type { Verbs } from '../../families/creation.ts'
import { type Keyed, type Repeat, repeatable } from '../../store/idempotency.ts'
import { insertProject, projectExists } from '../../store/projects.ts'
import { checkName } from '../rules/names.ts'
import { normaliseProject, type ProjectInput } from '../rules/normalise-project.ts'
import type { Subscription } from '../rules/spec.ts'
import type { ProjectParts } from './parts.ts'

/** The project that was written, or was deleted. */
export type ProjectResult<Type extends RefusalType> = Outcome<{ readonly projectId: string }, RefusalOf<Type>>

export async function createProject(
  { trees, system, verbs }: ProjectParts,
  viewer: Viewer,
  input: ProjectInput & Keyed & { readonly name: string },
): Promise<ProjectResult<'InvalidInputError' | 'ConflictError' | 'ForbiddenError'>> {
  const refused = requireCreation(viewer, input)
  if (refused) return refuse(refused)
  const problems = new Problems()
  checkName(input.name, 'input.name', problems)
  const {
    workerTemplate = null,
    subscriptions = [],
    limits = {},
    promotesTo = null,
  } = normaliseProject(input, 'input', problems)
  await checkTasks(verbs, subscriptions, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const { maxWorkers = null, maxJobs = null, strategy = 'QUEUE' } = limits
  const project = {
    ...{ name: input.name, workerTemplate, subscriptions },
    ...{ limits: { maxWorkers, maxJobs, strategy }, promotesTo },
  }
  return await trees.inRecord(`The project ${input.name}`, (client) => {
    const scope = { client, projectId: null, now: system.now() }
    const create = async (): Promise<ProjectResult<'ConflictError'>> => {
      const projectId = await insertProject(client, system, project, viewer.call)
      return projectId === null ? refuse(taken(input.name)) : { ok: true, projectId }
    }
    const again = async (projectId: string): Promise<ProjectResult<'InvalidInputError'>> =>
      (await projectExists(client, projectId)) ? { ok: true, projectId } : refuse(GONE_SINCE)
    return repeatable(scope, viewer, { mutation: 'createProject', input, ...OF_PROJECT, again }, create)
  })
}

export const OF_PROJECT: Repeat<{ readonly projectId: string }> = {
  idOf: ({ projectId }) => projectId,
  again: (projectId) => ({ ok: true, projectId }),
}
const GONE_SINCE = invalidInput([
  { path: 'input.idempotencyKey', message: 'has created a project that is deleted since' },
])

/** Three more variables describe the event itself. */
const MAX_TASK_ENV = 61

/** Checks the tasks of subscriptions now instead of at the first event. */
export async function checkTasks(
  { createTask }: Verbs,
  subscriptions: readonly Subscription[],
  problems: Problems,
): Promise<void> {
  for (const [i, { task }] of subscriptions.entries()) {
    const path = `input.subscriptions.${i}.task.jobs`
    if (task && !createTask)
      problems.add(`input.subscriptions.${i}.task`, 'must be left out: this server runs no tasks')
    if (task) await createTask?.check(task, path, problems)
    for (const [n, { env }] of (task ?? []).entries())
      if ((env?.length ?? 0) > MAX_TASK_ENV) problems.add(`${path}.${n}.env`, `must not be more than ${MAX_TASK_ENV}`)
  }
}

/** Only who may author in all projects may author in one that is yet to be created. */
function requireCreation(viewer: Viewer, input: ProjectInput): RefusalOf<'ForbiddenError'> | null {
  const refused = requireRight(viewer, RIGHTS.createProject)
  if (refused || !bringsCode(input)) return refused
  return requireRight(viewer, { ...RIGHTS.programProject, everywhere: true })
}

/** Worker templates, and tasks of subscriptions. */
export const bringsCode = ({ workerTemplate, subscriptions }: ProjectInput): boolean =>
  Boolean(workerTemplate) || (subscriptions ?? []).some(({ task }) => Boolean(task))

const taken = (name: string): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'ALREADY_EXISTS',
  message: `There is a project ${name} already.`,
  objectId: null,
})
