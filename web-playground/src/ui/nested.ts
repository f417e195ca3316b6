import { type Area, bestOf, GAP, type NestedEdge, type Size, type Sized, shifted } from './area.ts'
import { inLayers } from './grid-layers.ts'
import type { Point } from './layered.ts'

/** Its size is that of the node alone; of a container, that of its head. */
export interface NestedNode extends Size {
  readonly id: string
  /** The node that contains it; null: none of the others. */
  readonly parentId: string | null
}
export interface Box extends Size, Point {
  readonly contains: boolean
  /** Number of containers around it. */
  readonly depth: number
}
export interface Nested {
  readonly boxes: ReadonlyMap<string, Box>
  /** The corners of a line that goes around all boxes. */
  readonly routes: ReadonlyMap<string, readonly Point[]>
  readonly box: Size
}

/** Between the border of a container and what it contains. */
const PADDING = 10
/**
 * Places nodes in the boxes of their containers: those that are joined by edges from left to right, all others in their
 * order, as on a page of text. `aspect` is the width to height that a container should have.
 */
export function nested(nodes: readonly NestedNode[], edges: readonly NestedEdge[], aspect = 1.6): Nested {
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
    const area = arranged(members, within.get(id) ?? [], aspect)
    areas.set(id, area)
    return area
  }
  const { width, height } = measure(null)

  const boxes = new Map<string, Box>()
  const routes = new Map<string, readonly Point[]>()
  const draw = (id: string | null, { x, y }: Point, depth: number): void => {
    const area = areas.get(id)
    for (const [edge, route] of area?.routes ?? []) routes.set(edge, shifted(route, { x, y }))
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

/** Nodes that edges join are one block; blocks are in the order of their first nodes. */
function arranged(nodes: readonly Sized[], edges: readonly NestedEdge[], aspect: number): Area {
  const blocks = joined(nodes, edges).map(({ members, within }): Area => {
    const [first] = members
    if (members.length > 1 || !first) return inLayers(members, within, aspect)
    return {
      width: first.width,
      height: first.height,
      places: new Map([[first.id, { x: 0, y: 0 }]]),
      routes: NO_ROUTES,
    }
  })
  return inRows(blocks, aspect)
}
const NO_ROUTES: Area['routes'] = new Map()

function joined(nodes: readonly Sized[], edges: readonly NestedEdge[]) {
  const firsts = new Map(nodes.map(({ id }) => [id, id]))
  const firstOf = (id: string): string => {
    let at = id
    for (let above = firsts.get(at); above !== undefined && above !== at; above = firsts.get(at)) at = above
    firsts.set(id, at)
    return at
  }
  const order = new Map(nodes.map(({ id }, i) => [id, i]))
  for (const { from, to } of edges) {
    const [a, b] = [firstOf(from), firstOf(to)]
    if (a === b) continue
    const [first, second] = (order.get(a) ?? 0) < (order.get(b) ?? 0) ? [a, b] : [b, a]
    firsts.set(second, first)
  }
  const within = Map.groupBy(edges, ({ from }) => firstOf(from))
  const members = Map.groupBy(nodes, ({ id }) => firstOf(id))
  return [...members].map(([first, all]) => ({ members: all, within: within.get(first) ?? [] }))
}

/** Widths of rows that are tried, as multiples of that of an area without any waste. */
const TRIED = [1, 0.8, 0.9, 1.1, 1.2, 1.35, 1.5] as const

/** Rows as on a page of text, in the width that fits the aspect best. */
function inRows(blocks: readonly Area[], aspect: number): Area {
  const filled = blocks.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0)
  const widest = Math.max(0, ...blocks.map(({ width }) => width))
  const [first, ...others] = TRIED.map((times) => Math.max(widest, times * Math.sqrt(filled * aspect)))
  return bestOf([rowsOf(blocks, first ?? widest), ...others.map((room) => rowsOf(blocks, room))], aspect)
}

/** Blocks beside one that is at least twice as high are below each other, as text beside a picture. */
function rowsOf(blocks: readonly Area[], room: number): Area {
  const places = new Map<string, Point>()
  const routes = new Map<string, readonly Point[]>()
  let [width, height] = [0, 0]
  const put = (block: Area, at: Point): void => {
    for (const [id, place] of block.places) places.set(id, { x: at.x + place.x, y: at.y + place.y })
    for (const [id, route] of block.routes) routes.set(id, shifted(route, at))
    width = Math.max(width, at.x + block.width)
    height = Math.max(height, at.y + block.height)
  }
  let row = { x: 0, y: 0, height: 0 }
  let beside: { readonly left: number; x: number; y: number; height: number } | null = null
  for (const block of blocks) {
    if (row.x > 0 && row.x + block.width > room) [row, beside] = [{ x: 0, y: height + GAP, height: 0 }, null]
    if (row.x > 0 && block.height * 2 <= row.height) beside ??= { left: row.x, x: row.x, y: row.y, height: 0 }
    if (beside && beside.x + block.width > room)
      beside = { ...beside, x: beside.left, y: beside.y + beside.height + GAP, height: 0 }
    if (beside && beside.y + block.height <= row.y + row.height) {
      put(block, beside)
      beside = { ...beside, x: beside.x + block.width + GAP, height: Math.max(beside.height, block.height) }
      continue
    }
    if (beside) [row, beside] = [{ x: 0, y: height + GAP, height: 0 }, null]
    put(block, row)
    row = { x: row.x + block.width + GAP, y: row.y, height: Math.max(row.height, block.height) }
  }
  return { places, routes, width, height }
}

/** Level or upright from corner to corner; between two heights to the right it is a curve, level at both ends. */
export function pathOf(route: readonly Point[]): string {
  const [start, ...others] = route
  if (!start) return ''
  let path = `M${start.x},${start.y}`
  let before = start
  for (const point of others) {
    const middle = (before.x + point.x) / 2
    if (point.y === before.y) path += `H${point.x}`
    else if (point.x === before.x) path += `V${point.y}`
    else path += `C${middle},${before.y} ${middle},${point.y} ${point.x},${point.y}`
    before = point
  }
  return path
}
