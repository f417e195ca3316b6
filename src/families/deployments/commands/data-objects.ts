import { invalidInput, notFound, type RefusalOf } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE } from '../../../core/problems.ts'
import { onProject, refuse } from '../../access.ts'
import { rights } from '../rights.ts'
import { findDataObject, importersOf, removeDataObject, writeDataObject } from '../store/root-scope.ts'
import type { DataObjectKey } from './inputs.ts'
import type { CommandParts } from './parts.ts'

type DataObjectResult = Outcome<
  { readonly projectId: string; readonly name: string },
  RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>
>

export async function setDataObject(
  parts: CommandParts,
  viewer: Viewer,
  input: { project: string; name: string; value: unknown },
): Promise<DataObjectResult> {
  if (!isName(input.name)) return refuse(invalidInput([{ path: 'input.name', message: NAME_RULE }]))
  const access = { right: rights.setData, project: input.project }
  return await onProject(parts, viewer, access, async (project): Promise<DataObjectResult> => {
    const known = await findDataObject(project, input.name)
    if (known.exporterId) return refuse(exportedBy(input.name, known.exporterId))
    if (known.exists && sameJson(known.value, input.value))
      return { ok: true, projectId: project.projectId, name: input.name }
    await writeDataObject(project, input.name, input.value, parts.system.now())
    await project.wake(await importersOf(project, input.name), 'scope')
    return { ok: true, projectId: project.projectId, name: input.name }
  })
}

export async function deleteDataObject(
  parts: CommandParts,
  viewer: Viewer,
  input: DataObjectKey,
): Promise<DataObjectResult> {
  const missing = notFound(null, 'data object', input.name)
  const access = { right: rights.deleteData, project: input.project, missing }
  return await onProject(parts, viewer, access, async (project): Promise<DataObjectResult> => {
    const known = await findDataObject(project, input.name)
    if (known.exporterId) return refuse(exportedBy(input.name, known.exporterId))
    if (!known.exists) return refuse(missing)
    await removeDataObject(project, input.name)
    await project.wake(await importersOf(project, input.name), 'scope')
    return { ok: true, projectId: project.projectId, name: input.name }
  })
}

const exportedBy = (name: string, objectId: string): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'IN_USE',
  message: `${name} is exported by an installation: it sets this data itself.`,
  objectId,
})
