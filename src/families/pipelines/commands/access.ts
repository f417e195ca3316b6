import { notFound, type Refusal, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Right } from '../../../core/rights.ts'
import { inProject, refuse } from '../../access.ts'
import type { LockedProject } from '../../family.ts'
import type { PipelinesParts } from './parts.ts'

/**
 * Runs under the lock of a project that the viewer may change. A viewer that may not read it does not learn that it
 * exists.
 */
export const onProject = async <T, R extends Refusal>(
  { trees }: Pick<PipelinesParts, 'trees'>,
  viewer: Viewer,
  access: { readonly right: Right; readonly project: string },
  work: (project: LockedProject) => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R | RefusalOf<'NotFoundError' | 'ForbiddenError'>>> =>
  (await inProject(trees, viewer, access, work)) ?? refuse(notFound(null, 'project'))
