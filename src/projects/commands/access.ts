import { notFound, type Refusal, type RefusalOf } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { Right } from '../../core/rights.ts'
import { inProject, refuse } from '../../families/access.ts'
import type { LockedProject } from '../../families/family.ts'
import type { ProjectParts } from './parts.ts'

/**
 * Runs under the lock of a project that the viewer may change. A viewer that may not read it does not learn that it
 * exists.
 */
export const onProject = async <T, R extends Refusal>(
  { trees }: Pick<ProjectParts, 'trees'>,
  viewer: Viewer,
  access: { readonly right: Right; readonly project: string },
  work: (project: LockedProject) => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R | RefusalOf<'NotFoundError' | 'ForbiddenError'>>> =>
  (await inProject(trees, viewer, access, work)) ?? refuse(notFound(null, 'project'))
