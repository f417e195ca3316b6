import { invalidInput, notFound, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE } from '../../../core/problems.ts'
import { onProject, refuse } from '../../access.ts'
import { rights } from '../rights.ts'
import { findDataObject, importersOf, removeDataObject, writeDataObject } from '../store/root-scope.ts'
import type { DataObjectKey } from './inputs.ts'
import type { CommandParts } from './parts.ts'

type DataOutcome<Done> = Outcome<
  Done,
  RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>
>
type DataDeleted = DataOutcome<{ readonly projectId: string; readonly name: string }>
type DataSet = DataOutcome<{ readonly projectId: string; readonly name: string; readonly updatedAt: Date }>

export async function setDataObject(
  parts: CommandParts,
  viewer: Viewer,
  input: { project: string; name: string; value: unknown },
): Promise<DataSet> {
  if (!isName(input.name)) return refuse(invalidInput([{ path: 'input.name', message: NAME_RULE }]))
  const access = { right: rights.setData, project: input.project }
  return await onProject(parts, viewer, access, async (project): Promise<DataSet> => {
    const { projectId } = project
    const { name, value } = input
    const known = await findDataObject(project, name)
    if (known.exporterId) return refuse(exportedBy(name, known.exporterId))
    const now = parts.system.now()
    const isChanged = await writeDataObject(project, name, value, now)
    if (isChanged) await project.wake(await importersOf(project, name), 'scope')
    return { ok: true, projectId, name, updatedAt: isChanged ? now : (known.updatedAt ?? now) }
  })
}

export async function deleteDataObject(
  parts: CommandParts,
  viewer: Viewer,
  input: DataObjectKey,
): Promise<DataDeleted> {
  const missing = notFound(null, 'data object', input.name)
  const access = { right: rights.deleteData, project: input.project, missing }
  return await onProject(parts, viewer, access, async (project): Promise<DataDeleted> => {
    const known = await findDataObject(project, input.name)
    if (known.exporterId) return refuse(exportedBy(input.name, known.exporterId))
    if (!known.updatedAt) return refuse(missing)
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
