import { isWorkedKind } from './known.ts'
import type { Dependency } from './tree-model.ts'

/** The tree that a graph is made of. */
export interface GraphSource {
  readonly rootId: string
  readonly nodes: {
    has(id: string): boolean
    get(id: string): { readonly kind: string; readonly name: string } | undefined
  }
  readonly dependencies: readonly Dependency[]
  /** Objects are still missing. */
  readonly isPartial?: boolean
  /** In the order of the spec. */
  childrenOf(id: string): readonly string[]
  parentOf(id: string): string | undefined
}

/** A tree without its wrappers; of a filtered one, the objects that match and those that contain them. */
export interface DrawnTree {
  readonly rootId: string
  readonly size: number
  /** The children of its wrappers are its own. */
  childrenOf(id: string): readonly string[]
  /** The wrappers that are folded into the object. */
  wrappersOf(id: string): readonly string[]
  /** The object in whose place a wrapper is shown; of another object, the object itself. */
  ownerOf(id: string): string
}

/** Without `matches` all objects are drawn. */
export function drawnTree(source: GraphSource, matches?: (id: string) => boolean): DrawnTree {
  const children = new Map<string, readonly string[]>()
  const wrappers = new Map<string, readonly string[]>()
  const owners = new Map<string, string>()
  let size = 0
  /** True if the object, or one in it, is drawn. */
  const visit = (id: string): boolean => {
    const folded: string[] = []
    const below = source.childrenOf(id).flatMap((child) => {
      if (!source.nodes.has(child)) return []
      if (!isWrapper(source, child)) return [child]
      folded.push(child)
      owners.set(child, id)
      return source.childrenOf(child).filter((one) => source.nodes.has(one))
    })
    const drawn = below.filter(visit)
    const isDrawn = drawn.length > 0 || !matches || [id, ...folded].some(matches)
    if (!isDrawn) return false
    size += 1
    children.set(id, drawn)
    if (folded.length > 0) wrappers.set(id, folded)
    return true
  }
  if (source.nodes.has(source.rootId)) visit(source.rootId)
  return {
    rootId: source.rootId,
    size,
    childrenOf: (id) => children.get(id) ?? [],
    wrappersOf: (id) => wrappers.get(id) ?? [],
    ownerOf: (id) => owners.get(id) ?? id,
  }
}

/**
 * A wrapper holds the leaves of its parent and says nothing else: no agent works on it, its parent and its children are of
 * other kinds, and it is the only child of its kind.
 */
export function isWrapper(source: GraphSource, id: string): boolean {
  const kindOf = (one: string | undefined): string | undefined =>
    one === undefined ? undefined : source.nodes.get(one)?.kind
  const [parent, kind, children] = [source.parentOf(id), kindOf(id), source.childrenOf(id)]
  if (id === source.rootId || parent === undefined || kind === undefined || isWorkedKind(kind)) return false
  return (
    children.length > 0 &&
    kindOf(parent) !== kind &&
    children.every((child) => kindOf(child) !== kind && source.childrenOf(child).length === 0) &&
    source.childrenOf(parent).every((sibling) => sibling === id || kindOf(sibling) !== kind)
  )
}

/** All that is drawn in an object, in the order of the spec. */
export function descendants(tree: DrawnTree, id: string): readonly string[] {
  const found: string[] = []
  const stack = tree.childrenOf(id).toReversed()
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    found.push(at)
    stack.push(...tree.childrenOf(at).toReversed())
  }
  return found
}

/** The names from the root down to the object, wrappers too. */
export function pathIn(source: GraphSource, id: string): string {
  const names: string[] = []
  for (let at: string | undefined = id; at !== undefined; at = at === source.rootId ? undefined : source.parentOf(at))
    names.push(source.nodes.get(at)?.name ?? '')
  return names.toReversed().join('/')
}
