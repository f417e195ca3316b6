import { invalidInput, type RefusalOf } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Right } from '../../../core/rights.ts'
import type { Node } from '../../../core/tree.ts'
import { findFor } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import type { CommandParts } from './parts.ts'

/** Finds an installation in whose project the viewer has the right. */
export const findInstallation = ({ client }: CommandParts, viewer: Viewer, right: Right, id: string) =>
  findFor(client, viewer, right, { id, what: 'installation' })

/** Jobs, cancellation and deletion are of whole trees. Null: the id is that of the root. */
export function requireRoot({ root }: LockedTree, id: string): RefusalOf<'InvalidInputError'> | null {
  return root.row.id === id ? null : rootsOnly(root)
}

const rootsOnly = (root: Node): RefusalOf<'InvalidInputError'> =>
  invalidInput([
    { path: 'input.id', message: `is a nested installation: ask its root ${root.row.name} (${root.row.id})` },
  ])
