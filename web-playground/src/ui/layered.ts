import { Graph, layout } from '@dagrejs/dagre'

export interface LayeredNode {
  readonly id: string
  readonly width: number
  readonly height: number
}
export interface LayeredEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  /** Heavier edges are kept shorter and straighter; 1 by default. */
  readonly weight?: number
}
export interface Point {
  readonly x: number
  readonly y: number
}
export interface Layered {
  /** The upper left corner of each node. */
  readonly places: ReadonlyMap<string, Point>
  readonly routes: ReadonlyMap<string, readonly Point[]>
  /** The size of the drawing: routes may lie outside of all nodes. */
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
}

/** Places nodes in layers along the edges: from left to right, or from top to bottom. */
export function layered(
  nodes: readonly LayeredNode[],
  edges: readonly LayeredEdge[],
  direction: 'LR' | 'TB' = 'LR',
): Layered {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: direction, nodesep: 14, ranksep: direction === 'LR' ? 40 : 44, edgesep: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height })
  for (const { id, from, to, weight = 1 } of edges) graph.setEdge(from, to, { weight }, id)
  layout(graph)
  const places = new Map<string, Point>()
  for (const { id, width, height } of nodes) {
    const { x = 0, y = 0 } = graph.node(id)
    places.set(id, { x: x - width / 2, y: y - height / 2 })
  }
  const routes = new Map<string, readonly Point[]>()
  for (const { id, from, to } of edges) routes.set(id, graph.edge({ v: from, w: to, name: id }).points ?? [])
  const corners = nodes.flatMap(({ id, width, height }) => {
    const { x, y } = places.get(id) ?? { x: 0, y: 0 }
    return [
      { x, y },
      { x: x + width, y: y + height },
    ]
  })
  return { places, routes, box: boxOf([...corners, ...[...routes.values()].flat()]) }
}

function boxOf(points: readonly Point[]): Layered['box'] {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y } of points) {
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x)
    bottom = Math.max(bottom, y)
  }
  return points.length === 0
    ? { x: 0, y: 0, width: 0, height: 0 }
    : { x: left, y: top, width: right - left, height: bottom - top }
}
