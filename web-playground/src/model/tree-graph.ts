import type { Dependency } from './tree-model.ts'

/** The drawn part of a tree: objects, and groups in the place of objects without room. */
export interface TreeGraph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}
export type GraphNode = GraphObject | GraphGroup
export interface GraphObject {
  readonly kind: 'object'
  readonly id: string
  /** The object that contains it; null: of the root. */
  readonly parentId: string | null
  /** Its descendants, if they are counted in it and not drawn. */
  readonly folded: readonly string[]
  readonly foldable: boolean
}
export interface GraphGroup {
  readonly kind: 'group'
  readonly id: string
  readonly parentId: string
  readonly members: readonly string[]
}
/** `to` waits for `from`. Both are in the same object. */
export interface GraphEdge {
  readonly id: string
  readonly from: string
  readonly to: string
}

export interface GraphSource {
  readonly rootId: string
  readonly nodes: { has(id: string): boolean }
  readonly dependencies: readonly Dependency[]
  childrenOf(id: string): readonly string[]
  parentOf(id: string): string | undefined
}
/** Objects and groups that the viewer has folded and unfolded, by id. */
export type Folds = ReadonlyMap<string, 'open' | 'closed'>

/** The most leaves of one parent that are drawn one by one; more are a group. */
const LEAVES = 16
/** The most objects of an open group that are drawn; the rest stays in it. */
const OPEN_GROUP = 120
/** The most nodes before deeper ones are folded. */
const ROOM = 160

/** `reveal`: an object that is drawn on its own, wherever it is. */
export function treeGraph(tree: GraphSource, given: Folds, reveal?: string): TreeGraph {
  const folds = reveal === undefined ? given : revealing(tree, given, reveal)
  const nodes: GraphNode[] = []
  const shownAs = new Map<string, string>()
  const queue: { id: string; parentId: string | null }[] = [{ id: tree.rootId, parentId: null }]
  let planned = 1
  for (let item = queue.shift(); item; item = queue.shift()) {
    const { id, parentId } = item
    if (!tree.nodes.has(id)) continue
    shownAs.set(id, id)
    const children = tree.childrenOf(id)
    const cost = costOf(tree, children)
    const open = folds.get(id) ?? (planned + cost > ROOM && id !== tree.rootId ? 'closed' : 'open')
    if (children.length > 0 && open === 'closed') {
      const folded = descendants(tree, id)
      for (const below of folded) shownAs.set(below, id)
      nodes.push({ kind: 'object', id, parentId, folded, foldable: true })
      continue
    }
    planned += cost
    nodes.push({ kind: 'object', id, parentId, folded: [], foldable: children.length > 0 })
    const { single, grouped } = split(tree, { id, children, folds, reveal })
    for (const child of single) queue.push({ id: child, parentId: id })
    if (grouped.length === 0) continue
    const groupId = groupOf(id)
    const members = grouped.flatMap((child) => [child, ...descendants(tree, child)])
    for (const member of members) shownAs.set(member, groupId)
    nodes.push({ kind: 'group', id: groupId, parentId: id, members })
  }
  return { nodes, edges: edgesBetween(nodes, tree.dependencies, shownAs) }
}

/** The folds, with all that contain the object opened, unless the viewer has closed them. */
function revealing(tree: GraphSource, folds: Folds, id: string): Folds {
  const opened = new Map(folds)
  for (let at = tree.parentOf(id); at !== undefined; at = tree.parentOf(at)) {
    if (folds.get(at) !== 'closed') opened.set(at, 'open')
  }
  return opened
}

export const groupOf = (parentId: string): string => `group:${parentId}`

function costOf(tree: GraphSource, children: readonly string[]): number {
  const leaves = children.filter((child) => tree.childrenOf(child).length === 0).length
  return children.length - leaves + (leaves > LEAVES ? 1 : leaves)
}

interface SplitOptions {
  readonly id: string
  readonly children: readonly string[]
  readonly folds: Folds
  readonly reveal: string | undefined
}
function split(
  tree: GraphSource,
  { id, children, folds, reveal }: SplitOptions,
): { readonly single: readonly string[]; readonly grouped: readonly string[] } {
  const leaves = children.filter((child) => tree.childrenOf(child).length === 0)
  if (leaves.length <= LEAVES) return { single: children, grouped: [] }
  const drawn = folds.get(groupOf(id)) === 'open' ? leaves.slice(0, OPEN_GROUP) : []
  if (reveal !== undefined && leaves.includes(reveal)) drawn.push(reveal)
  const single = new Set([...children.filter((child) => tree.childrenOf(child).length > 0), ...drawn])
  return {
    single: children.filter((child) => single.has(child)),
    grouped: leaves.filter((leaf) => !single.has(leaf)),
  }
}

export function descendants(tree: Pick<GraphSource, 'childrenOf'>, id: string): readonly string[] {
  const found: string[] = []
  const stack = [...tree.childrenOf(id)]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    found.push(at)
    stack.push(...tree.childrenOf(at))
  }
  return found
}

/** Once for each pair of drawn nodes, and none within a group. Siblings wait for each other, and are drawn in one object. */
function edgesBetween(
  nodes: readonly GraphNode[],
  dependencies: readonly Dependency[],
  shownAs: ReadonlyMap<string, string>,
): readonly GraphEdge[] {
  const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]))
  const edges = new Map<string, GraphEdge>()
  for (const { from, to } of dependencies) {
    const [waiting, awaited] = [shownAs.get(from), shownAs.get(to)]
    if (!waiting || !awaited || waiting === awaited || parents.get(waiting) !== parents.get(awaited)) continue
    const id = `${awaited}:${waiting}`
    edges.set(id, { id, from: awaited, to: waiting })
  }
  return [...edges.values()]
}
