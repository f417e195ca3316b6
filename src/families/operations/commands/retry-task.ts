import { invalidInput, notFound, type RefusalOf } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { type CommandResult, findFor, onProject, refuse } from '../../access.ts'
import { task as machine } from '../machines.ts'
import { rights } from '../rights.ts'
import { jobsAgain } from '../rules/jobs-again.ts'
import { expressionsOf, predecessors } from '../rules/normalise-task.ts'
import type { JobSpec } from '../rules/spec.ts'
import { numberedName, readTask } from '../store/ended-task.ts'
import { writeTask } from './create-task.ts'
import type { OperationsParts } from './parts.ts'

interface RetryTask extends Keyed {
  readonly id: string
  readonly jobs?: readonly string[] | null
  readonly unsuccessful?: boolean | null
  readonly name?: string | null
}
type Ended = NonNullable<Awaited<ReturnType<typeof readTask>>>

/**
 * Creates a task with jobs of one that has ended. A task that has ended does not change any more, so it is read without a lock,
 * and may be deleted meanwhile.
 */
export async function retryTask(
  parts: OperationsParts,
  viewer: Viewer,
  input: RetryTask,
): Promise<CommandResult<'NotFoundError' | 'ConflictError' | 'InvalidInputError' | 'ForbiddenError'>> {
  const { id, name } = input
  const located = await findFor(parts.pool, viewer, rights.create, { id, what: 'task' })
  if (!located.ok) return located
  const missing = notFound(id, 'task')
  const ended = await readTask(parts.pool, id)
  if (!ended) return refuse(missing)
  if (!machine.final.includes(ended.phase)) return refuse(stillRuns(id, ended))
  const problems = new Problems()
  if (typeof name === 'string' && !isName(name)) problems.add('input.name', NAME_RULE)
  const chosen = chosenJobs(input, ended, problems)
  const again = jobsAgain(
    ended.jobs.map(({ spec, phase }) => ({ spec, isDone: phase === 'DONE' })),
    chosen,
  )
  await checkReferences(
    parts,
    again.jobs.filter((spec) => chosen.has(spec.name)),
    again.jobs,
    problems,
  )
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const inherited = new Map(
    ended.jobs.flatMap(({ spec, exports }) =>
      again.inherited.has(spec.name) ? [[spec.name, exports ?? {}] as const] : [],
    ),
  )
  const access = { right: rights.create, project: located.found.projectName, once: byKey('retryTask', input), missing }
  return await onProject(parts, viewer, access, async (project) =>
    writeTask(project, viewer, {
      ...{ name: name ?? (await numberedName(project, ended.name)), labels: ended.labels },
      ...{ jobs: again.jobs, inherited, retryOf: { id, name: ended.name } },
    }),
  )
}

const stillRuns = (objectId: string, { name, phase }: Ended): RefusalOf<'ConflictError'> => ({
  ...{ type: 'ConflictError', code: 'BUSY', objectId },
  message: `The task ${name} is ${phase}: cancel it, or wait for its end, before it is retried.`,
})

function chosenJobs({ jobs, unsuccessful }: RetryTask, ended: Ended, problems: Problems): ReadonlySet<string> {
  const names = ended.jobs.filter(({ phase }) => !unsuccessful || phase !== 'DONE').map(({ spec }) => spec.name)
  for (const [i, name] of (jobs ?? []).entries())
    if (!ended.jobs.some(({ spec }) => spec.name === name)) problems.add(`input.jobs.${i}`, `there is no job ${name}`)
  const chosen = new Set(names.filter((name) => jobs?.includes(name) ?? true))
  if (chosen.size > 0 || problems.found.length > 0) return chosen
  if (unsuccessful) problems.add('input.unsuccessful', 'must be left out: all of them are DONE')
  else problems.add('input.jobs', 'must not be empty')
  return chosen
}

/** A job may use the exports of jobs that run before it, or are inherited. */
async function checkReferences(
  { sandbox }: Pick<OperationsParts, 'sandbox'>,
  chosen: readonly JobSpec[],
  all: readonly JobSpec[],
  problems: Problems,
): Promise<void> {
  const sources = expressionsOf(chosen)
  const analysed = sources.length > 0 ? await sandbox.analyze(sources, 'task') : []
  const namesIn = new Map(
    sources.map((source, i) => {
      const found = analysed[i]
      return [source, found?.ok ? found.references.map(([, name = '']) => name) : []] as const
    }),
  )
  const before = predecessors(all)
  for (const spec of chosen)
    for (const name of new Set(expressionsOf([spec]).flatMap((source) => namesIn.get(source) ?? [])))
      if (!before.get(spec.name)?.has(name))
        problems.add('input.jobs', `must have ${name}, too: ${spec.name} uses it, and it is not DONE`)
}
