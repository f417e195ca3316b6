import { notFound, type Refusal, type RefusalOf } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { Right } from '../../core/rights.ts'
import { onProject } from '../../families/access.ts'
import type { LockedProject } from '../../families/family.ts'
import type { ProjectParts } from './parts.ts'

/** Changes the project itself. A viewer that may not read it does not learn that it exists. */
export const changeProject = <T extends object, R extends Refusal>(
  parts: Pick<ProjectParts, 'trees'>,
  viewer: Viewer,
  access: { readonly right: Right; readonly project: string },
  write: (project: LockedProject) => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R | RefusalOf<'NotFoundError' | 'InvalidInputError' | 'ForbiddenError'>>> =>
  onProject(parts, viewer, { ...access, missing: notFound(null, 'project', access.project) }, write)
