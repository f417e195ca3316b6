import { describeCode, isForEditors } from '../../../core/deployers/item-types.ts'
import { forbidden, type RefusalOf } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { hasRight, requirementOf } from '../../../core/rights.ts'
import { rights } from '../rights.ts'
import { type BroughtItem, broughtCode } from '../rules/brought-code.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import type { CommandParts } from './parts.ts'

/** Authors write items that bring code. Each command that writes a spec is judged here, under the lock of its project. */

type Parts = Pick<CommandParts, 'editorTypes'>

/** @param projectId null: there is no such project, so only a right in all projects counts */
export const mayBring = (
  { editorTypes }: Parts,
  viewer: Viewer,
  { type }: Pick<BroughtItem, 'type'>,
  projectId: string | null,
): boolean =>
  isForEditors(type, editorTypes) ||
  (projectId === null
    ? hasRight(viewer, { ...rights.bringCode, everywhere: true })
    : hasRight(viewer, rights.bringCode, projectId))

interface Written {
  readonly projectId: string
  /** The name of the root. */
  readonly name: string
  readonly spec: InstallationSpec
  /** The spec that is replaced; null: a new root. */
  readonly present: InstallationSpec | null
}

export function requireCodeRight(
  parts: Parts,
  viewer: Viewer,
  { projectId, name, spec, present }: Written,
): RefusalOf<'ForbiddenError'> | null {
  if (hasRight(viewer, rights.bringCode, projectId)) return null
  const [first, ...others] = broughtCode(name, spec, present).filter(
    (item) => !mayBring(parts, viewer, item, projectId),
  )
  if (!first) return null
  const more = others.length > 0 ? ` (and ${others.length} more)` : ''
  return forbidden(
    `${viewer.name} may not write ${first.path.join('/')}${more}. ${describeCode(first.type)}, which takes ${requirementOf(rights.bringCode, projectId)}.`,
  )
}
