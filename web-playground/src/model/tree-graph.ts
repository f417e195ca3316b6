import { type DrawnTree, descendants, drawnTree, type GraphSource } from './drawn-tree.ts'
import { type SiblingGroup, type Unit, unitsOf } from './graph-groups.ts'
import type { Dependency } from './tree-model.ts'

/** The drawn part of a tree: objects and groups in the boxes of those that contain them. */
export interface TreeGraph {
  /** A box is before all that it contains; siblings are in the order of the spec. */
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  /** Boxes that are open only because they contain the revealed object. */
  readonly revealed: readonly string[]
  /** It has so few objects that each may take more room. */
  readonly isSmall: boolean
}
interface GraphBox {
  readonly id: string
  /** The box that contains it; null: of the root. */
  readonly parentId: string | null
  /** Objects that are counted in it and not drawn. */
  readonly folded: readonly string[]
  /** Wrappers that are folded into it, or into what is folded. */
  readonly wrappers: readonly string[]
  /** Null: it contains nothing. */
  readonly state: 'open' | 'closed' | null
  /** The state without the viewer's choice. */
  readonly byDefault: 'open' | 'closed'
}
export interface GraphObject extends GraphBox {
  readonly kind: 'object'
}
export interface GraphGroup extends GraphBox {
  readonly kind: 'group'
  readonly name: string
  /** Objects that are in it, at any depth. */
  readonly size: number
}
export type GraphNode = GraphObject | GraphGroup
/** `to` waits for `from`. Both are in the same box. */
export interface GraphEdge {
  readonly id: string
  readonly from: string
  readonly to: string
}

/** Boxes that the viewer has opened and closed, by id. */
export type Folds = ReadonlyMap<string, 'open' | 'closed'>
export interface GraphOptions {
  readonly folds: Folds
  /** An object that is drawn on its own, wherever it is, unless the viewer has closed its box. */
  readonly reveal?: string | undefined
  readonly matches?: ((id: string) => boolean) | undefined
  readonly labelOf?: ((id: string) => string | undefined) | undefined
}

/** A tree of at most so many objects is drawn as a whole: on a common screen it is readable. */
export const ROOM = 60
/** The most siblings of a larger tree that are no groups: those that contain others, and those that do not. */
const UNGROUPED = { boxes: 24, leaves: 16 } as const
/** The most units of one box. */
const UNITS = 48
/** A tree of at most so many objects is small. A box of so many is open in one that the viewer has opened. */
const SMALL = 24

export function treeGraph(source: GraphSource, options: GraphOptions): TreeGraph {
  const tree = drawnTree(source, options.matches)
  const boxes = new Boxes(source, tree, options)
  const stateOf = judgeBoxes(source, tree, boxes, options)
  const nodes: GraphNode[] = []
  const revealed: string[] = []
  const shownAs = new Map<string, string>()
  const draw = (unit: Unit, parentId: string | null): void => {
    const [id, own] = typeof unit === 'string' ? [unit, [unit]] : [unit.id, []]
    const inside = boxes.inside(unit)
    const { isOpen, isRevealed, byDefault } = stateOf(unit)
    const state = inside.length === 0 ? null : isOpen ? 'open' : 'closed'
    if (state !== null && isRevealed) revealed.push(id)
    const folded = state === 'closed' ? boxes.contentOf(unit) : []
    const wrappers = [...own, ...folded].flatMap((one) => tree.wrappersOf(one))
    for (const one of [...own, ...folded, ...wrappers]) shownAs.set(one, id)
    const box = { id, parentId, folded, wrappers, state, byDefault } as const
    if (typeof unit === 'string') nodes.push({ kind: 'object', ...box })
    else nodes.push({ kind: 'group', ...box, name: unit.name, size: boxes.contentOf(unit).length })
    if (state === 'open') for (const one of inside) draw(one, id)
  }
  if (tree.size > 0) draw(tree.rootId, null)
  return { nodes, edges: edgesBetween(nodes, source.dependencies, shownAs), revealed, isSmall: tree.size <= SMALL }
}

interface BoxState {
  readonly isOpen: boolean
  /** It is open only because of the revealed object. */
  readonly isRevealed: boolean
  readonly byDefault: 'open' | 'closed'
}

function judgeBoxes(
  source: GraphSource,
  tree: DrawnTree,
  boxes: Boxes,
  { folds, reveal }: GraphOptions,
): (unit: Unit) => BoxState {
  const { open, seen } = openByDefault(tree, boxes, source.isPartial === true)
  const way = wayTo(source, tree, reveal)
  return (unit) => {
    const isObject = typeof unit === 'string'
    const id = isObject ? unit : unit.id
    const isSmallInOpened = isObject && !seen.has(id) && boxes.contentOf(unit).length <= SMALL
    const byDefault = open.has(id) || isSmallInOpened ? 'open' : 'closed'
    const isOnWay = isObject ? way.has(id) && id !== reveal : unit.members.some((member) => way.has(member))
    const chosen = folds.get(id)
    const isRevealed = isOnWay && chosen === undefined && byDefault === 'closed'
    return { isOpen: isRevealed || (chosen ?? byDefault) === 'open', isRevealed, byDefault }
  }
}

/** Units of boxes, each found once. */
class Boxes {
  readonly #tree: DrawnTree
  readonly #nameOf: (id: string) => string
  readonly #labelOf: GraphOptions['labelOf']
  readonly #units = new Map<string, readonly Unit[]>()

  constructor(source: GraphSource, tree: DrawnTree, { labelOf }: GraphOptions) {
    this.#tree = tree
    this.#nameOf = (id) => source.nodes.get(id)?.name ?? ''
    this.#labelOf = labelOf
  }
  inside(unit: Unit): readonly Unit[] {
    const id = typeof unit === 'string' ? unit : unit.id
    const known = this.#units.get(id) ?? (typeof unit === 'string' ? this.#unitsIn(unit) : this.#unitsOf(unit))
    this.#units.set(id, known)
    return known
  }
  /** Each box is a unit of its own, as long as they are few; leaves are groups. */
  #unitsIn(id: string): readonly Unit[] {
    const children = this.#tree.childrenOf(id)
    // A tree that fits has no groups.
    if (this.#tree.size <= ROOM) return children
    const boxes = children.filter((child) => this.#tree.childrenOf(child).length > 0)
    const nameOf = this.#nameOf
    const options = { most: UNGROUPED.leaves, nameOf, labelOf: this.#labelOf }
    if (boxes.length > UNGROUPED.boxes) return unitsOf(id, children, { ...options, units: UNITS })
    const single = new Set(boxes)
    const leaves = children.filter((child) => !single.has(child))
    const units = unitsOf(id, leaves, { ...options, units: UNITS - boxes.length })
    const order = new Map(children.map((child, i) => [child, i]))
    const first = (one: Unit): number => order.get((typeof one === 'string' ? one : one.members[0]) ?? '') ?? 0
    return [...boxes, ...units].toSorted((a, b) => first(a) - first(b))
  }
  /** A group of many is divided again, by name. */
  #unitsOf({ id, members }: SiblingGroup): readonly Unit[] {
    return unitsOf(id, members, { most: ROOM, units: UNITS, nameOf: this.#nameOf })
  }
  /** All objects in it, at any depth. */
  contentOf(unit: Unit): readonly string[] {
    if (typeof unit === 'string') return descendants(this.#tree, unit)
    return unit.members.flatMap((id) => [id, ...descendants(this.#tree, id)])
  }
}

/**
 * Opens level by level, each as a whole, while all of it has room. It depends on the tree alone, so opening a box closes no other. The root
 * alone is open while objects are missing: the content of its other boxes is not known yet.
 */
function openByDefault({ rootId }: DrawnTree, boxes: Boxes, isPartial: boolean) {
  const open = new Set<string>()
  const seen = new Set<string>()
  let planned = 1
  for (let level: readonly string[] = [rootId]; level.length > 0; ) {
    for (const id of level) seen.add(id)
    const inside = level.map((id) => boxes.inside(id))
    planned += inside.reduce((sum, units) => sum + units.length, 0)
    if ((planned > ROOM || isPartial) && open.size > 0) break
    for (const id of level) open.add(id)
    level = inside.flat().filter((unit) => typeof unit === 'string')
  }
  return { open, seen }
}

/** The object and all that contain it. */
function wayTo(source: GraphSource, tree: DrawnTree, reveal: string | undefined): ReadonlySet<string> {
  const way = new Set<string>()
  for (let at = reveal; at !== undefined; at = source.parentOf(at)) way.add(tree.ownerOf(at))
  return way
}

/** Between the boxes that contain both ends and are in the same box, once for each pair, and none within a box. */
function edgesBetween(
  nodes: readonly GraphNode[],
  dependencies: readonly Dependency[],
  shownAs: ReadonlyMap<string, string>,
): readonly GraphEdge[] {
  const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]))
  const edges = new Map<string, GraphEdge>()
  for (const dependency of dependencies) {
    const [waiting, awaited] = [shownAs.get(dependency.from), shownAs.get(dependency.to)]
    if (waiting === undefined || awaited === undefined) continue
    const ends = inSameBox(parents, awaited, waiting)
    if (!ends) continue
    const [from, to] = ends
    const id = `${from}:${to}`
    edges.set(id, { id, from, to })
  }
  const byBox = Map.groupBy(edges.values(), ({ from }) => parents.get(from) ?? null)
  const members = Map.groupBy(nodes, ({ parentId }) => parentId)
  return [...byBox].flatMap(([box, within]) =>
    withoutCycles(
      (members.get(box) ?? []).map(({ id }) => id),
      within,
    ),
  )
}

function inSameBox(
  parents: ReadonlyMap<string, string | null>,
  a: string,
  b: string,
): readonly [string, string] | undefined {
  if (a === b) return undefined
  if (parents.get(a) === parents.get(b)) return [a, b]
  const way = (id: string): readonly string[] => {
    const found: string[] = []
    for (let at: string | null | undefined = id; at; at = parents.get(at)) found.push(at)
    return found.toReversed()
  }
  const [wayA, wayB] = [way(a), way(b)]
  const at = wayA.findIndex((id, i) => id !== wayB[i])
  const [from, to] = [wayA[at], wayB[at]]
  // One contains the other.
  return from === undefined || to === undefined ? undefined : [from, to]
}

/** Groups may wait for each other although none of their objects do: the edge that closes a cycle is left out. */
function withoutCycles(ids: readonly string[], edges: readonly GraphEdge[]): readonly GraphEdge[] {
  const outgoing = Map.groupBy(edges, ({ from }) => from)
  const open = new Map<string, number>()
  for (const { to } of edges) open.set(to, (open.get(to) ?? 0) + 1)
  const ready = ids.filter((id) => !open.has(id))
  const done = new Set<string>()
  const kept: GraphEdge[] = []
  // `ready` grows while it is read. If nothing is ready, the first one that is left closes a cycle.
  for (let at = 0, next = 0; done.size < ids.length; ) {
    const id = at < ready.length ? ready[at++] : ids[next++]
    if (id === undefined) break
    if (done.has(id)) continue
    done.add(id)
    for (const edge of outgoing.get(id) ?? []) {
      if (done.has(edge.to)) continue
      kept.push(edge)
      const left = (open.get(edge.to) ?? 0) - 1
      open.set(edge.to, left)
      if (left === 0) ready.push(edge.to)
    }
  }
  return kept
}

/** The boxes that contain a node, the innermost first. */
export function boxesAround({ nodes }: TreeGraph, id: string | undefined): readonly string[] {
  const parents = new Map(nodes.map((node) => [node.id, node.parentId]))
  const found: string[] = []
  for (let at = parents.get(id ?? ''); at; at = parents.get(at)) found.push(at)
  return found
}

/** The node to which an arrow key leads: along the dependencies, into and out of boxes, or to the next one in the order. */
export function nodeAt({ nodes, edges }: TreeGraph, from: string, key: string): string | undefined {
  const at = nodes.findIndex(({ id }) => id === from)
  switch (key) {
    case 'ArrowDown':
      return nodes[at + 1]?.id
    case 'ArrowUp':
      return nodes[at - 1]?.id
    case 'ArrowRight':
      return edges.find((edge) => edge.from === from)?.to ?? nodes.find(({ parentId }) => parentId === from)?.id
    case 'ArrowLeft':
      return edges.find((edge) => edge.to === from)?.from ?? nodes[at]?.parentId ?? undefined
    case 'Home':
      return nodes[0]?.id
    case 'End':
      return nodes.at(-1)?.id
    default:
      return undefined
  }
}
