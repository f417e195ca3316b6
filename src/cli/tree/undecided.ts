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
  if (!leaves.every(isHeld)) return []
  return leaves.flatMap((node) => {
    // A decision about another object of the tree is shown at that object.
    const blocker = node.blockedBy.find(
      (one) => isPersons(one) && (isOwn(one, node) || !tree.nodes.has(one.object?.id ?? '')),
    )
    return blocker ? { node, path: tree.pathOf(node.id), blocker } : []
  })
}

/** The other object may be of another tree, such as the job of another task that keeps a lock. */
const isPersons = ({ reason }: Blocker): boolean => reason === 'IGNORED' || reason === 'DECISION'
const isOwn = ({ reason, object }: Blocker, { id }: TreeNode): boolean => reason === 'IGNORED' || object?.id === id

function isHeld({ blockedBy, phaseClass }: TreeNode): boolean {
  if (blockedBy.some(isPersons)) return true
  return blockedBy.length > 0 ? blockedBy.every(({ reason }) => WITHIN.includes(reason)) : phaseClass === 'WAITING'
}
