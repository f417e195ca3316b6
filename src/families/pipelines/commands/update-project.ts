import { invalidInput } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { replaceSubscriptions, writeProject } from '../../../store/projects.ts'
import { refuse } from '../../access.ts'
import { POOLS } from '../details.ts'
import { normaliseProject, type ProjectInput } from '../normalise-project.ts'
import { wakeWaiting } from '../slots.ts'
import { inProject } from './access.ts'
import { checkTasks, type ProjectResult } from './create-project.ts'
import type { PipelinesParts } from './parts.ts'

/** Changes only the fields of the input. Existing events keep the worker that they were created with. */
export async function updateProject(
  parts: PipelinesParts,
  viewer: Viewer,
  input: ProjectInput & { readonly name: string },
): Promise<ProjectResult<'InvalidInputError' | 'NotFoundError' | 'ForbiddenError'>> {
  const problems = new Problems()
  const { subscriptions, ...settings } = normaliseProject(input, 'input', problems)
  await checkTasks(parts.tasks, subscriptions ?? [], problems)
  return await inProject(
    parts,
    viewer,
    input.name,
    async ({ client, projectId, now }): Promise<ProjectResult<'InvalidInputError'>> => {
      if (problems.found.length > 0) return refuse(invalidInput(problems.found))
      await writeProject(client, projectId, settings, now)
      if (subscriptions) await replaceSubscriptions(client, projectId, subscriptions)
      // A higher limit may let waiting ones start.
      if (settings.limits) for (const pool of POOLS) await wakeWaiting(client, pool)
      return { ok: true, project: input.name }
    },
  )
}
