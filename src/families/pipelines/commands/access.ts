import { notFound } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { canRead, refuse, requireProjectWrite } from '../../access.ts'
import type { LockedProject } from '../../family.ts'
import type { PipelinesParts } from './parts.ts'

/** Runs under the lock of a project that the viewer may see and change; else nobody learns whether there is one. */
export async function inProject<T>(
  { trees }: Pick<PipelinesParts, 'trees'>,
  viewer: Viewer,
  project: string,
  work: (project: LockedProject) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const refused = requireProjectWrite(viewer)
  if (refused) return refuse(refused)
  const none = refuse(notFound(null, 'project'))
  return canRead(viewer, project) ? ((await trees.inProject(project, work)) ?? none) : none
}
