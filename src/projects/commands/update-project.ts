import { generationMismatch, invalidInput, type RefusalOf } from '../../core/errors.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { Problems } from '../../core/problems.ts'
import { RIGHTS, requireRight } from '../../core/rights.ts'
import { refuse } from '../../families/access.ts'
import { type Keyed, repeatable } from '../../store/idempotency.ts'
import { nextGeneration, replaceSubscriptions, writeProject } from '../../store/projects.ts'
import { normaliseProject, type ProjectInput } from '../rules/normalise-project.ts'
import { changeProject } from './access.ts'
import { bringsCode, checkTasks, OF_PROJECT, type ProjectResult } from './create-project.ts'
import type { ProjectParts } from './parts.ts'

export type UpdateProject = ProjectInput &
  Keyed & { readonly name: string; readonly expectedGeneration?: number | null }
type UpdateResult = ProjectResult<'InvalidInputError' | 'ConflictError' | 'ForbiddenError'>

/** Changes only the fields of the input. Existing events keep the worker that they were created with. */
export async function updateProject(
  parts: ProjectParts,
  viewer: Viewer,
  input: UpdateProject,
): Promise<ProjectResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>> {
  const problems = new Problems()
  const { subscriptions, ...settings } = normaliseProject(input, 'input', problems)
  await checkTasks(parts.verbs, subscriptions ?? [], problems)
  return await changeProject(
    parts,
    viewer,
    { right: RIGHTS.updateProject, project: input.name },
    async (project): Promise<UpdateResult> => {
      const { client, projectId, now } = project
      const refused = requireChange(viewer, input, projectId)
      if (refused) return refuse(refused)
      if (problems.found.length > 0) return refuse(invalidInput(problems.found))
      const change = async (): Promise<UpdateResult> => {
        const { expectedGeneration = null } = input
        const generation = await nextGeneration(client, projectId, expectedGeneration)
        if (expectedGeneration !== null && expectedGeneration !== generation)
          return refuse(generationMismatch(generation, expectedGeneration))
        await writeProject(client, projectId, settings, now)
        if (subscriptions) await replaceSubscriptions(client, projectId, subscriptions)
        if (settings.limits) await parts.limitsChanged(client, now)
        return { ok: true, projectId }
      }
      return await repeatable(project, viewer, { mutation: 'updateProject', input, ...OF_PROJECT }, change)
    },
  )
}

/** A worker template is code; limits and the order of environments are settings; subscriptions are settings, and those with tasks bring code besides. */
function requireChange(
  viewer: Viewer,
  { name: _, ...input }: ProjectInput & { readonly name: string },
  projectId: string,
): RefusalOf<'ForbiddenError'> | null {
  const programs = input.workerTemplate !== undefined || bringsCode(input)
  const configures = [input.limits, input.subscriptions, input.promotesTo].some((part) => part !== undefined)
  return (
    (programs ? requireRight(viewer, RIGHTS.programProject, projectId) : null) ??
    (configures ? requireRight(viewer, RIGHTS.configureProject, projectId) : null)
  )
}
