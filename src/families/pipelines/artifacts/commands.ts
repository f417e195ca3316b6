import { notFound, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { removeCache } from '../../../store/artifacts.ts'
import { onProject, refuse } from '../../access.ts'
import type { PipelinesParts } from '../commands/parts.ts'
import { rights } from '../rights.ts'

interface CacheKey {
  readonly project: string
  readonly key: string
}
type CacheDeleted = Outcome<
  { readonly projectId: string; readonly key: string },
  RefusalOf<'NotFoundError' | 'ForbiddenError' | 'InvalidInputError'>
>

/** Deletes an entry of the cache of a project. Workloads that have found it keep it. */
export const deleteCache = (parts: PipelinesParts, viewer: Viewer, { project, key }: CacheKey): Promise<CacheDeleted> =>
  onProject(
    parts,
    viewer,
    { right: rights.deleteCache, project },
    async ({ client, projectId }): Promise<CacheDeleted> =>
      (await removeCache(client, projectId, key)) ? { ok: true, projectId, key } : refuse(notFound(null, 'cache', key)),
  )
