import { invalidInput, type RefusalOf } from '../../../core/errors.ts'
import type { Node } from '../../../core/tree.ts'
import type { LockedTree } from '../../family.ts'

/** Jobs, cancellation and deletion are of whole trees. Null: the id is that of the root. */
export function requireRoot({ root }: LockedTree, id: string): RefusalOf<'InvalidInputError'> | null {
  return root.row.id === id ? null : rootsOnly(root)
}

const rootsOnly = (root: Node): RefusalOf<'InvalidInputError'> =>
  invalidInput([
    { path: 'input.id', message: `is a nested installation: ask its root ${root.row.name} (${root.row.id})` },
  ])
