import { invalidInput, notFound, type Refusal, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome, WrittenObject } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Node } from '../../../core/tree.ts'
import { type FoundObject, findObject } from '../../../store/objects.ts'
import { canRead, refuse, requireProjectWrite } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import type { CommandParts } from './parts.ts'

/** Finds the installation of a command, and judges whether the viewer may change it. */

type Absent = RefusalOf<'NotFoundError'>
type Inaccessible = Absent | RefusalOf<'ForbiddenError'>

/** Locks the tree of an object and runs the work; null if the tree is deleted meanwhile. */
export type LockTree<R extends Refusal, Own extends Refusal = never> = (
  found: FoundObject,
  work: (tree: LockedTree) => Promise<Outcome<WrittenObject, R>>,
) => Promise<Outcome<WrittenObject, R | Own> | null>

/** Runs on the tree of an object that the viewer may read and change. */
async function onObject<R extends Refusal, Own extends Refusal>(
  parts: CommandParts,
  viewer: Viewer,
  id: string,
  work: (tree: LockedTree, node: Node) => Promise<Outcome<WrittenObject, R>>,
  lockTree: LockTree<R | Absent, Own>,
): Promise<Outcome<WrittenObject, R | Own | Inaccessible>> {
  const refused = requireProjectWrite(viewer)
  if (refused) return refuse(refused)
  const found = await findObject(parts.client, id)
  if (found?.kind !== 'INSTALLATION' || !canRead(viewer, found.projectName)) return refuse(notFound(id, 'installation'))
  const done = await lockTree(found, async (tree) => {
    await tree.load([id])
    const node = tree.slice.get(id)
    return node ? work(tree, node) : refuse(notFound(id, 'installation'))
  })
  return done ?? refuse(notFound(id, 'installation'))
}
export const onRoot = <R extends Refusal, Own extends Refusal = never>(
  parts: CommandParts,
  viewer: Viewer,
  id: string,
  work: (tree: LockedTree) => Promise<Outcome<WrittenObject, R>>,
  lockTree: LockTree<R | Absent | RefusalOf<'InvalidInputError'>, Own> = ({ rootId }, tree) =>
    parts.trees.inTree(rootId, tree),
): Promise<Outcome<WrittenObject, R | Own | Inaccessible | RefusalOf<'InvalidInputError'>>> =>
  onObject<R | RefusalOf<'InvalidInputError'>, Own>(
    parts,
    viewer,
    id,
    async (tree, node) => (node.row.parentId === null ? work(tree) : refuse(rootsOnly(tree.root))),
    lockTree,
  )

const rootsOnly = (root: Node): RefusalOf<'InvalidInputError'> =>
  invalidInput([
    { path: 'input.id', message: `is a nested installation: ask its root ${root.row.name} (${root.row.id})` },
  ])
