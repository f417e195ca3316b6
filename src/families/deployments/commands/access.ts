import { invalidInput, notFound, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Node } from '../../../core/tree.ts'
import { type FoundObject, findObject } from '../../../store/objects.ts'
import { canRead, refuse, requireProjectWrite } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import type { CommandParts } from './parts.ts'

type Inaccessible = RefusalOf<'NotFoundError' | 'ForbiddenError'>

/** Where an installation is, if the viewer may see and change it. */
export async function findInstallation(
  { client }: CommandParts,
  viewer: Viewer,
  id: string,
): Promise<Outcome<{ readonly found: FoundObject }, Inaccessible>> {
  const refused = requireProjectWrite(viewer)
  if (refused) return refuse(refused)
  const found = await findObject(client, id)
  if (found?.kind !== 'INSTALLATION' || !canRead(viewer, found.projectName)) return refuse(notFound(id, 'installation'))
  return { ok: true, found }
}

/** Jobs, cancellation and deletion are of whole trees. Null: the id is that of the root. */
export function requireRoot({ root }: LockedTree, id: string): RefusalOf<'InvalidInputError'> | null {
  return root.row.id === id ? null : rootsOnly(root)
}

const rootsOnly = (root: Node): RefusalOf<'InvalidInputError'> =>
  invalidInput([
    { path: 'input.id', message: `is a nested installation: ask its root ${root.row.name} (${root.row.id})` },
  ])
