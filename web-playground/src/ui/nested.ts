import { type LayeredEdge, layered, type Point } from './layered.ts'

export interface Size {
  readonly width: number
  readonly height: number
}
/** Its size is that of the node alone; of a container, that of its head. */
export interface NestedNode extends Size {
  readonly id: string
  /** The node that contains it; null: none of the others. */
  readonly parentId: string | null
}
/** Between two nodes of the same container. */
export type NestedEdge = Omit<LayeredEdge, 'weight'>

export interface Box extends Size, Point {
  readonly contains: boolean
  /** Number of containers around it. */
  readonly depth: number
}
export interface Nested {
  readonly boxes: ReadonlyMap<string, Box>
  /** The corners of a line from left to right that goes around all boxes: pairs of one height, with a step between two pairs. */
  readonly routes: ReadonlyMap<string, readonly Point[]>
  readonly box: Size
}

/** Between the border of a container and what it contains. */
const PADDING = 12
/** Between nodes without an order. */
const GAP = 14
/** Width to height of an area of nodes without an order. */
const ASPECT = 2.6

/** Nodes of one container, from its upper left corner. */
interface Area extends Size {
  readonly places: ReadonlyMap<string, Point>
  readonly routes: ReadonlyMap<string, readonly Point[]>
}
interface Sized extends Size {
  readonly id: string
}

/** Places nodes in the boxes of their containers: from left to right along the edges, side by side where there are none. */
export function nested(nodes: readonly NestedNode[], edges: readonly NestedEdge[]): Nested {
  const inside = Map.groupBy(nodes, ({ parentId }) => parentId)
  const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]))
  const within = Map.groupBy(edges, ({ from }) => parents.get(from) ?? null)
  const areas = new Map<string | null, Area>()
  const sizes = new Map<string, Size>()

  const measure = (id: string | null): Area => {
    const members = (inside.get(id) ?? []).map((node): Sized => {
      const { width, height } = inside.has(node.id) ? around(node, measure(node.id)) : node
      sizes.set(node.id, { width, height })
      return { id: node.id, width, height }
    })
    const area = arranged(members, within.get(id) ?? [])
    areas.set(id, area)
    return area
  }
  const { width, height } = measure(null)

  const boxes = new Map<string, Box>()
  const routes = new Map<string, readonly Point[]>()
  const draw = (id: string | null, { x, y }: Point, depth: number): void => {
    const area = areas.get(id)
    for (const [edge, route] of area?.routes ?? [])
      routes.set(
        edge,
        route.map((point) => ({ x: x + point.x, y: y + point.y })),
      )
    for (const node of inside.get(id) ?? []) {
      const place = area?.places.get(node.id) ?? { x: 0, y: 0 }
      const { width, height } = sizes.get(node.id) ?? node
      const contains = inside.has(node.id)
      const box = { x: x + place.x, y: y + place.y, width, height, contains, depth }
      boxes.set(node.id, box)
      if (contains) draw(node.id, { x: box.x + PADDING, y: box.y + node.height }, depth + 1)
    }
  }
  draw(null, { x: 0, y: 0 }, 0)
  return { boxes, routes, box: { width, height } }
}

const around = (head: Size, area: Size): Size => ({
  width: Math.max(head.width, area.width + 2 * PADDING),
  height: head.height + area.height + PADDING,
})

/** Nodes with edges in layers, and the others below. */
function arranged(nodes: readonly Sized[], edges: readonly NestedEdge[]): Area {
  const joined = new Set(edges.flatMap(({ from, to }) => [from, to]))
  const ordered = inLayers(
    nodes.filter(({ id }) => joined.has(id)),
    edges,
  )
  const others = nodes.filter(({ id }) => !joined.has(id))
  const rows = inRows(others, ordered.width)
  const y = joined.size > 0 && others.length > 0 ? ordered.height + GAP : ordered.height
  const below = [...rows.places].map(([id, place]) => [id, { x: place.x, y: y + place.y }] as const)
  return {
    width: Math.max(ordered.width, rows.width),
    height: y + rows.height,
    places: new Map([...ordered.places, ...below]),
    routes: ordered.routes,
  }
}

/** As on a page of text; `atLeast` is the width that there is anyway. */
function inRows(nodes: readonly Sized[], atLeast: number): Omit<Area, 'routes'> {
  const area = nodes.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0)
  const room = Math.max(atLeast, Math.sqrt(area * ASPECT), ...nodes.map(({ width }) => width))
  const places = new Map<string, Point>()
  let [x, y, rowHeight, width] = [0, 0, 0, 0]
  for (const node of nodes) {
    if (x > 0 && x + node.width > room) [x, y, rowHeight] = [0, y + rowHeight + GAP, 0]
    places.set(node.id, { x, y })
    width = Math.max(width, x + node.width)
    rowHeight = Math.max(rowHeight, node.height)
    x += node.width + GAP
  }
  return { places, width, height: nodes.length > 0 ? y + rowHeight : 0 }
}

function inLayers(nodes: readonly Sized[], edges: readonly NestedEdge[]): Area {
  const { places, routes, box } = layered(nodes, edges, 'LR')
  const sizes = new Map(nodes.map((node) => [node.id, node]))
  const layers = layersOf(nodes, places)
  const shift = ({ x, y }: Point): Point => ({ x: x - box.x, y: y - box.y })
  const middle = (id: string): number => (places.get(id)?.y ?? 0) + (sizes.get(id)?.height ?? 0) / 2
  const right = (id: string): number => (places.get(id)?.x ?? 0) + (sizes.get(id)?.width ?? 0)
  const aroundBoxes = ({ id, from, to }: NestedEdge): readonly Point[] => {
    const [first, last] = [layerAt(layers, right(from)), layerAt(layers, places.get(to)?.x ?? 0)]
    // In a layer it passes through at one height, where the layout has kept room for it; it rises and falls between layers.
    const through = (routes.get(id) ?? []).slice(1, -1).flatMap(({ x, y }) => {
      const layer = layerAt(layers, x)
      return layer && layer !== first && layer !== last
        ? [
            { x: layer.left, y },
            { x: layer.right, y },
          ]
        : []
    })
    return [
      { x: right(from), y: middle(from) },
      { x: first?.right ?? right(from), y: middle(from) },
      ...through,
      { x: last?.left ?? 0, y: middle(to) },
      { x: places.get(to)?.x ?? 0, y: middle(to) },
    ]
  }
  return {
    width: box.width,
    height: box.height,
    places: new Map([...places].map(([id, place]) => [id, shift(place)])),
    routes: new Map(edges.map((edge) => [edge.id, aroundBoxes(edge).map(shift)])),
  }
}

interface Layer {
  readonly left: number
  readonly right: number
}

/** From left to right: nodes that overlap in width are in one layer. */
function layersOf(nodes: readonly Sized[], places: ReadonlyMap<string, Point>): readonly Layer[] {
  const spans = nodes
    .map(({ id, width }) => ({ left: places.get(id)?.x ?? 0, right: (places.get(id)?.x ?? 0) + width }))
    .toSorted((a, b) => a.left - b.left)
  const layers: { left: number; right: number }[] = []
  for (const { left, right } of spans) {
    const before = layers.at(-1)
    if (before && left <= before.right) before.right = Math.max(before.right, right)
    else layers.push({ left, right })
  }
  return layers
}

const layerAt = (layers: readonly Layer[], x: number): Layer | undefined =>
  layers.find(({ left, right }) => x >= left - 0.5 && x <= right + 0.5)

/** Between two heights the line is a curve, level at both ends. */
export function pathOf(route: readonly Point[]): string {
  const [start, ...others] = route
  if (!start) return ''
  let path = `M${start.x},${start.y}`
  let before = start
  for (const point of others) {
    const middle = (before.x + point.x) / 2
    path += point.y === before.y ? `H${point.x}` : `C${middle},${before.y} ${middle},${point.y} ${point.x},${point.y}`
    before = point
  }
  return path
}
