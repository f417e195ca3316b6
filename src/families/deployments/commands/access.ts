import { invalidInput, notFound, type Refusal } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Node } from '../../../core/tree.ts'
import { type FoundObject, findObject } from '../../../store/objects.ts'
import { type CommandResult, canRead, refuse, requireProjectWrite } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import type { CommandParts } from './parts.ts'

/** Which object a command is about, and whether the viewer may. */

/** How the tree of an object comes to be held; null: there is no such tree any more. */
export type LockTree = (
  found: FoundObject,
  work: (tree: LockedTree) => Promise<CommandResult>,
) => Promise<CommandResult | null>

/** Runs on the tree of an object that the viewer may see and change. */
async function onObject(
  parts: CommandParts,
  viewer: Viewer,
  id: string,
  work: (tree: LockedTree, node: Node) => Promise<CommandResult>,
  lockTree: LockTree,
): Promise<CommandResult> {
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
export const onRoot = (
  parts: CommandParts,
  viewer: Viewer,
  id: string,
  work: (tree: LockedTree) => Promise<CommandResult>,
  lockTree: LockTree = ({ rootId }, tree) => parts.trees.inTree(rootId, tree),
): Promise<CommandResult> =>
  onObject(
    parts,
    viewer,
    id,
    async (tree, node) => (node.row.parentId === null ? work(tree) : refuse(rootsOnly(tree.root))),
    lockTree,
  )

const rootsOnly = (root: Node): Refusal =>
  invalidInput([
    { path: 'input.id', message: `is a nested installation: ask its root ${root.row.name} (${root.row.id})` },
  ])
