import { notFound, type Refusal, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { canRead, refuse, requireProjectWrite } from '../../access.ts'
import type { LockedProject } from '../../family.ts'
import type { PipelinesParts } from './parts.ts'

/** Runs under the lock of a project that the viewer may read and change. Others do not learn whether it exists. */
export async function inProject<T, R extends Refusal>(
  { trees }: Pick<PipelinesParts, 'trees'>,
  viewer: Viewer,
  project: string,
  work: (project: LockedProject) => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R | RefusalOf<'NotFoundError' | 'ForbiddenError'>>> {
  const refused = requireProjectWrite(viewer)
  if (refused) return refuse(refused)
  const none = refuse(notFound(null, 'project'))
  return canRead(viewer, project) ? ((await trees.inProject(project, work)) ?? none) : none
}
