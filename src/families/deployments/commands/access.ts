import { forbidden, invalidInput, notFound, type Refusal } from '../../../core/errors.ts'
import type { Outcome, Viewer } from '../../../core/ports.ts'
import type { Node } from '../../../core/tree.ts'
import { type FoundObject, findObject } from '../../../store/objects.ts'
import type { HeldTree } from '../../family.ts'
import type { CommandParts } from './parts.ts'

/** Who may do what, and to which object. */

export type Done = Outcome<{ readonly objectId: string }>

export const refuse = (refusal: Refusal): { ok: false; refusal: Refusal } => ({ ok: false, refusal })

/** A viewer that may not change anything is told so; one that may not see the project is told that there is none. */
export function mayChange(viewer: Viewer, project?: string): Refusal | null {
  if (viewer.role === 'READER' || viewer.role === 'AGENT')
    return forbidden(`The role ${viewer.role} may not change anything.`)
  if (project !== undefined && !mayRead(viewer, project))
    return forbidden(`You have no access to a project ${project}.`)
  return null
}
export const mayRead = (viewer: Viewer, project: string): boolean =>
  viewer.projects === null || viewer.projects.includes(project)

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
