import { invalidInput, notFound, type Refusal } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports.ts'
import type { Node } from '../../../core/tree.ts'
import { type FoundObject, findObject } from '../../../store/objects.ts'
import { type Done, mayChange, mayRead, refuse } from '../../access.ts'
import type { HeldTree } from '../../family.ts'
import type { CommandParts } from './parts.ts'

/** Which object a command is about, and whether the viewer may. */

/** How the tree of an object comes to be held; null: there is no such tree any more. */
export type Hold = (found: FoundObject, work: (held: HeldTree) => Promise<Done>) => Promise<Done | null>

/** Runs on the tree of an object that the viewer may see and change. */
async function onObject(
  parts: CommandParts,
  viewer: Viewer,
  id: string,
  work: (held: HeldTree, node: Node) => Promise<Done>,
  hold: Hold,
): Promise<Done> {
  const may = mayChange(viewer)
  if (may) return refuse(may)
  const found = await findObject(parts.client, id)
  if (found?.kind !== 'INSTALLATION' || !mayRead(viewer, found.projectName)) return refuse(notFound(id, 'installation'))
  const done = await hold(found, async (held) => {
    await held.bring([id])
    const node = held.slice.get(id)
    return node ? work(held, node) : refuse(notFound(id, 'installation'))
  })
  return done ?? refuse(notFound(id, 'installation'))
}
export const onRoot = (
  parts: CommandParts,
  viewer: Viewer,
  id: string,
  work: (held: HeldTree) => Promise<Done>,
  hold: Hold = ({ rootId }, held) => parts.trees.inTree(rootId, held),
): Promise<Done> =>
  onObject(
    parts,
    viewer,
    id,
    async (held, node) => (node.row.parentId === null ? work(held) : refuse(rootsOnly(held.root))),
    hold,
  )

const rootsOnly = (root: Node): Refusal =>
  invalidInput([
    { path: 'input.id', message: `is a nested installation: ask its root ${root.row.name} (${root.row.id})` },
  ])
