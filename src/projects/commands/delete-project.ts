import { invalidInput, type RefusalOf } from '../../core/errors.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { RIGHTS } from '../../core/rights.ts'
import { refuse } from '../../families/access.ts'
import { sharedLimitOf } from '../../store/limit-names.ts'
import { removeProject, someRoot } from '../../store/projects.ts'
import { changeProject } from './access.ts'
import type { ProjectResult } from './create-project.ts'
import type { ProjectParts } from './parts.ts'

/** Every server creates it at its start. */
const KEPT = 'default'

/** Deletes a project with its secrets, subscriptions and data. Its objects must be deleted before. */
export const deleteProject = (
  parts: ProjectParts,
  viewer: Viewer,
  { name }: { readonly name: string },
): Promise<ProjectResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>> =>
  changeProject(
    parts,
    viewer,
    { right: RIGHTS.deleteProject, project: name },
    async ({ client, projectId }): Promise<ProjectResult<'InvalidInputError' | 'ConflictError'>> => {
      if (name === KEPT) return refuse(invalidInput([{ path: 'input.name', message: `${KEPT} cannot be deleted` }]))
      const root = await someRoot(client, projectId)
      if (root) return refuse(inUse(`${name} still has objects, such as ${root.name}: delete them first.`, root.id))
      const shared = await sharedLimitOf(client, projectId)
      if (shared) return refuse(inUse(`${name} still shares the limit ${shared} with other projects: delete it first.`))
      await removeProject(client, projectId)
      return { ok: true, projectId }
    },
  )

const inUse = (message: string, objectId: string | null = null): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'IN_USE',
  ...{ message, objectId },
})
