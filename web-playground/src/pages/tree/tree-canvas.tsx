import {
  Background,
  type Edge,
  MarkerType,
  type Node,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStoreApi,
  type Viewport,
} from '@xyflow/react'
import type { Machines } from 'phaseline/client-model'
import { useEffect, useMemo, useRef } from 'react'
import type { KnownMachine } from '../../model/known.ts'
import '@xyflow/react/dist/base.css'
import { type Folds, type GraphNode, type TreeGraph, treeGraph } from '../../model/tree-graph.ts'
import { plural } from '../../model/words.ts'
import { type Box, type Nested, nested, pathOf, type Size } from '../../ui/nested.ts'
import { useSession } from '../../ui/session-context.ts'
import { GroupNode } from './group-node.tsx'
import { type NodeLabel, nodeSize } from './node-size.ts'
import { ObjectNode } from './object-node.tsx'
import { RouteEdge } from './route-edge.tsx'
import { type ShownTree, TreeContext } from './tree-context.ts'
import { ZoomButtons } from './zoom-buttons.tsx'

interface Props {
  readonly tree: ShownTree
  readonly folds: Folds
  readonly selected: string
  readonly onSelect: (id: string) => void
  readonly onFold: (id: string, to: 'open' | 'closed') => void
}

const NODE_TYPES = { object: ObjectNode, group: GroupNode }
const EDGE_TYPES = { route: RouteEdge }
const FIT = { padding: 0.06, maxZoom: 1.1 }
/** The smallest zoom at which names are readable. */
const READABLE = 0.5
const CLOSE = 0.8
const EDGE_PX = 16

/** Nodes and edges get a new layout when objects are added or removed; a phase change draws only its node again. */
export function TreeCanvas({ tree, folds, selected, onSelect, onFold }: Props) {
  const { structure } = tree.model
  // biome-ignore lint/correctness/useExhaustiveDependencies: the model is the same object; `structure` says when it is another graph
  const whole = useMemo(() => treeGraph(tree.model, folds), [tree, structure, folds])
  const hidden = whole.nodes.some(({ id }) => id === selected) ? undefined : selected
  const graph = useMemo(
    () => (hidden === undefined ? whole : treeGraph(tree.model, folds, hidden)),
    [whole, tree, folds, hidden],
  )
  const { machines } = useSession()
  const placed = useMemo(() => place(graph, (node) => labelOf(node, tree, machines)), [graph, tree, machines])
  const nodes = useMemo(
    // As data: the library would raise one that it knows as selected above the lines.
    () =>
      placed.nodes.map((node) => (node.id === selected ? { ...node, data: { ...node.data, selected: true } } : node)),
    [placed, selected],
  )
  const context = useMemo(() => ({ tree, onSelect, onFold }), [tree, onSelect, onFold])
  return (
    <TreeContext value={context}>
      <ReactFlowProvider>
        <section className="view" aria-label="The tree as a graph">
          <div className="canvas">
            <ReactFlow
              nodes={nodes}
              edges={placed.edges}
              nodeTypes={NODE_TYPES}
              edgeTypes={EDGE_TYPES}
              nodesDraggable={false}
              nodesConnectable={false}
              edgesFocusable={false}
              deleteKeyCode={null}
              minZoom={0.05}
              maxZoom={2}
              onlyRenderVisibleElements={graph.nodes.length > 100}
              onNodeClick={(_, { id, type }) => (type === 'group' ? onFold(id, 'open') : onSelect(id))}
              proOptions={{ hideAttribution: true }}
            >
              <Background gap={24} />
              <FitWhenOther placed={placed} selected={selected} />
            </ReactFlow>
          </div>
          <Foot />
        </section>
      </ReactFlowProvider>
    </TreeContext>
  )
}

function Foot() {
  const { zoomIn, zoomOut, fitView } = useReactFlow()
  return (
    <div className="view-foot">
      <ZoomButtons onIn={() => void zoomIn()} onOut={() => void zoomOut()} onFit={() => void fitView(FIT)} />
      <p className="legend" aria-hidden="true">
        <span className="line" aria-hidden="true">
          →
        </span>{' '}
        must be done first
      </p>
    </div>
  )
}

/** Keeps a growing tree in view, until the user has moved it. */
function FitWhenOther({ placed, selected }: { readonly placed: Placed; readonly selected: string }) {
  const { fitView, setViewport, getViewport } = useReactFlow()
  const flow = useStoreApi()
  const fitted = useRef<string | null>(null)
  const chosen = useRef(selected)
  chosen.current = selected
  useEffect(() => {
    const frame = requestAnimationFrame(async () => {
      const now = JSON.stringify(getViewport())
      if (fitted.current !== null && fitted.current !== now) return
      const { width, height } = flow.getState()
      const zoom = Math.min(width / placed.box.width, height / placed.box.height)
      const at = placed.boxes.get(chosen.current) ?? placed.boxes.values().next().value
      if (zoom > READABLE || !at) await fitView(FIT)
      // The tree is too large to be readable as a whole.
      else await setViewport(nearTo(at, { width, height }))
      fitted.current = JSON.stringify(getViewport())
    })
    return () => cancelAnimationFrame(frame)
  }, [placed, flow, fitView, setViewport, getViewport])
  return null
}

/** Centres the selected node, or shows the upper left of what is larger than the view. */
function nearTo(box: Box, { width, height }: Size): Viewport {
  const zoom = Math.min(CLOSE, Math.max(READABLE, width / (box.width + 2 * EDGE_PX)))
  const along = (start: number, length: number, room: number): number =>
    length * zoom > room - 2 * EDGE_PX ? EDGE_PX - start * zoom : room / 2 - (start + length / 2) * zoom
  return { x: along(box.x, box.width, width), y: along(box.y, box.height, height), zoom }
}

interface Placed extends Nested {
  readonly nodes: Node[]
  readonly edges: Edge[]
}

/** Lines are above the boxes that they are in, and below nothing: they go around all others. */
const LINES = 1_000

function place(graph: TreeGraph, label: (node: GraphNode) => NodeLabel): Placed {
  const layout = nested(
    graph.nodes.map((node) => ({ id: node.id, parentId: node.parentId, ...nodeSize(label(node)) })),
    graph.edges,
  )
  return {
    ...layout,
    nodes: graph.nodes.flatMap((node) => {
      const box = layout.boxes.get(node.id)
      if (!box) return []
      const { x, y, width, height, contains, depth } = box
      const data =
        node.kind === 'group' ? { members: node.members } : { folded: node.folded, foldable: node.foldable, contains }
      return [
        { id: node.id, type: node.kind, position: { x, y }, width, height, data, zIndex: contains ? depth : LINES + 1 },
      ]
    }),
    edges: graph.edges.map(({ id, from, to }) => ({
      ...{ id, source: from, target: to, type: 'route', zIndex: LINES },
      data: { path: pathOf(layout.routes.get(id) ?? []) },
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
    })),
  }
}

function labelOf(node: GraphNode, { model }: ShownTree, machines: Machines<KnownMachine>): NodeLabel {
  if (node.kind === 'group') return { name: plural(node.members.length, 'object'), phases: [], foldable: false }
  const { name = '', kind = '' } = model.nodes.get(node.id) ?? {}
  return { name, phases: machines.of(kind)?.phases ?? [], foldable: node.foldable }
}
