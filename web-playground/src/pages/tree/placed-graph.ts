import { type Edge, MarkerType, type Node } from '@xyflow/react'
import { pathIn } from '../../model/drawn-tree.ts'
import { humanKind, knownMachine } from '../../model/known.ts'
import type { GraphNode, TreeGraph } from '../../model/tree-graph.ts'
import { plural } from '../../model/words.ts'
import type { Layout } from '../../ui/layout.ts'
import { type Nested, pathOf } from '../../ui/nested.ts'
import { type NodeLabel, nodeSize } from './node-size.ts'
import type { ShownTree } from './tree-context.ts'

/** Lines are above the boxes that they are in, and below nothing: they go around all others. */
const LINES = 1_000

/** The question of a layout: the sizes of all nodes, which depend on their texts and not on their phases. */
export const layoutOf = (graph: TreeGraph, { model }: ShownTree, aspect: number): Layout => ({
  nodes: graph.nodes.map((node) => {
    const { width, height } = nodeSize(labelOf(node, graph, model))
    return { id: node.id, parentId: node.parentId, width, height }
  }),
  edges: graph.edges,
  aspect,
})

export interface Placed extends Nested {
  readonly graph: TreeGraph
  readonly nodes: Node[]
  readonly edges: Edge[]
}

export function place(graph: TreeGraph, layout: Nested, { model }: ShownTree): Placed {
  const groups = new Map(graph.nodes.flatMap((node) => (node.kind === 'group' ? [[node.id, node.name] as const] : [])))
  const nameOf = (id: string): string => groups.get(id) ?? model.nodes.get(id)?.name ?? ''
  return {
    ...layout,
    graph,
    nodes: graph.nodes.flatMap((node) => {
      const box = layout.boxes.get(node.id)
      if (!box) return []
      const { x, y, width, height, contains, depth } = box
      const { hasKind, heat } = nodeSize(labelOf(node, graph, model))
      const path = node.kind === 'object' ? pathIn(model, node.id) : ''
      const data = { node, path, hasKind, heat, isRoomy: graph.isSmall }
      const zIndex = contains ? depth : LINES + 1
      return [
        {
          id: node.id,
          type: TYPES[node.kind],
          position: { x, y },
          width,
          height,
          data,
          zIndex,
          domAttributes: NO_ROLE,
        },
      ]
    }),
    edges: graph.edges.map(({ id, from, to }) => ({
      ...{ id, source: from, target: to, type: 'route', zIndex: LINES },
      data: { path: pathOf(layout.routes.get(id) ?? []) },
      ariaLabel: `${nameOf(to)} waits for ${nameOf(from)}`,
      // As large on a thick line.
      markerEnd: { type: MarkerType.ArrowClosed, width: 20, height: 20, markerUnits: 'userSpaceOnUse' },
    })),
  }
}

/** The style sheet of the library has borders for what it calls a group. */
const TYPES = { object: 'object', group: 'siblings' } as const
/** The button in it says what it is. */
const NO_ROLE = { 'aria-roledescription': undefined }

function labelOf(node: GraphNode, { isSmall }: TreeGraph, model: ShownTree['model']): NodeLabel {
  const { state } = node
  const folded = node.folded.length
  if (node.kind === 'group') {
    const phases = state === 'open' ? [plural(node.size, 'object')] : []
    return { name: node.name, kind: '', phases, state, folded, isRoomy: false }
  }
  const { name = '', kind = '' } = model.nodes.get(node.id) ?? {}
  return { name, kind: humanKind(kind), phases: knownMachine(kind)?.phases ?? [], state, folded, isRoomy: isSmall }
}
