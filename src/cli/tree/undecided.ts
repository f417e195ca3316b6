import type { Blocker } from './fields.ts'
import type { TreeModel, TreeNode } from './model.ts'

/** Reasons that end as soon as something else in the tree does. */
const WITHIN = ['DEPENDENCY', 'PARENT', 'CHILDREN', 'REQUEST']

export interface Decision {
  readonly node: TreeNode
  /** Names from the root down. */
  readonly path: string
  readonly blocker: Blocker
}

/**
 * The decisions without which nothing resumes at or below the focus. Empty while anything else there can progress. Blockers
 * that are not known yet count as those of an object that waits within its tree.
 */
export function decisionsIn(tree: TreeModel): readonly Decision[] {
  const unfinished = [...tree.nodes.values()].filter(({ id, finished }) => !finished && tree.isBelow(id))
  const parents = new Set(unfinished.map(({ parentId }) => parentId))
  const leaves = unfinished.filter(({ id }) => !parents.has(id))
  if (!leaves.every((leaf) => isHeld(leaf, tree))) return []
  return leaves.flatMap((node) => {
    const blocker = node.blockedBy.find((one) => isOwn(one, node))
    return blocker ? { node, path: tree.pathOf(node.id), blocker } : []
  })
}

const isOwn = ({ reason, object }: Blocker, { id }: TreeNode): boolean =>
  reason === 'IGNORED' || (reason === 'DECISION' && object?.id === id)

function isHeld(node: TreeNode, tree: TreeModel): boolean {
  const { blockedBy, phaseClass } = node
  if (blockedBy.some((one) => isOwn(one, node) || (one.object && isDecidedIn(one, tree)))) return true
  return blockedBy.length > 0 ? blockedBy.every(({ reason }) => WITHIN.includes(reason)) : phaseClass === 'WAITING'
}
const isDecidedIn = ({ reason, object }: Blocker, { nodes }: TreeModel): boolean =>
  reason === 'DECISION' && nodes.has(object?.id ?? '')
