import {
  Background,
  type Edge,
  MarkerType,
  type Node,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStoreApi,
  type Viewport,
} from '@xyflow/react'
import { useEffect, useMemo, useRef } from 'react'
import '@xyflow/react/dist/base.css'
import { type Folds, type TreeGraph, treeGraph } from '../../model/tree-graph.ts'
import { type Layered, layered } from '../../ui/layered.ts'
import { GroupNode } from './group-node.tsx'
import { NODE_SIZE, ObjectNode } from './object-node.tsx'
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
const FIT = { padding: 0.06, maxZoom: 1.1 }
/** The smallest zoom at which names are readable. */
const READABLE = 0.55
const CLOSE = 0.8
/** Pixels between two layers. */
const LAYERS_PX = 40

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
  const direction = useRef<Direction>('LR')
  const placed = useMemo(() => place(graph, direction), [graph])
  const nodes = useMemo(
    () => placed.nodes.map((node) => (node.id === selected ? { ...node, selected: true } : node)),
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
        <span className="line solid" /> contains <span className="line dashed" /> must be done first
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
      const at = placed.nodes.find(({ id }) => id === chosen.current) ?? placed.nodes[0]
      if (zoom > READABLE || !at) await fitView(FIT)
      // The tree is too large to be readable as a whole.
      else await setViewport(nearTo(at, placed, { width, height }))
      fitted.current = JSON.stringify(getViewport())
    })
    return () => cancelAnimationFrame(frame)
  }, [placed, flow, fitView, setViewport, getViewport])
  return null
}

const EDGE_PX = 16

/** Centres the selected node and its surroundings; the root stays at its side, since its surroundings come after it. */
function nearTo({ id, position }: Node, { nodes, direction }: Placed, { width, height }: Size): Viewport {
  const isRoot = id === nodes[0]?.id
  const zoom = Math.min(CLOSE, Math.max(READABLE, width / (2 * NODE_SIZE.width + LAYERS_PX + 3 * EDGE_PX)))
  const centred = {
    x: width / 2 - (position.x + NODE_SIZE.width / 2) * zoom,
    y: height / 2 - (position.y + NODE_SIZE.height / 2) * zoom,
  }
  if (!isRoot) return { ...centred, zoom }
  return direction === 'LR'
    ? { x: EDGE_PX - position.x * zoom, y: centred.y, zoom }
    : { x: centred.x, y: EDGE_PX - position.y * zoom, zoom }
}

type Size = { readonly width: number; readonly height: number }
interface Placed {
  readonly nodes: Node[]
  readonly edges: Edge[]
  readonly direction: Direction
  readonly box: Layered['box']
}
type Direction = 'LR' | 'TB'
/** The gain in size that justifies turning a shown tree into the other direction. */
const WORTH_TURNING = 1.25

/** The direction in which the tree can be drawn larger. */
function place(graph: TreeGraph, direction: { current: Direction }): Placed {
  const boxes = graph.nodes.map(({ id }) => ({ id, ...NODE_SIZE }))
  const now = layered(boxes, graph.edges, direction.current)
  const turned: Direction = direction.current === 'LR' ? 'TB' : 'LR'
  const other = layered(boxes, graph.edges, turned)
  if (zoomOf(other) <= zoomOf(now) * WORTH_TURNING) return drawn(graph, now, direction.current)
  direction.current = turned
  return drawn(graph, other, turned)
}

/** The zoom at which the drawing fits. The size of the canvas is estimated, since it is not rendered yet. */
function zoomOf({ box }: Layered): number {
  const isWide = innerWidth > 900
  const [width, height] = isWide ? [innerWidth - 350, innerHeight - 90] : [innerWidth, innerHeight * 0.55]
  return Math.min(1, width / box.width, height / box.height)
}

function drawn(graph: TreeGraph, { places, box }: Layered, direction: Direction): Placed {
  return {
    box,
    direction,
    nodes: graph.nodes.map((node) => ({
      id: node.id,
      type: node.kind,
      position: places.get(node.id) ?? { x: 0, y: 0 },
      data: node.kind === 'group' ? { members: node.members } : { folded: node.folded, foldable: node.foldable },
      targetPosition: direction === 'LR' ? Position.Left : Position.Top,
      sourcePosition: direction === 'LR' ? Position.Right : Position.Bottom,
      ...NODE_SIZE,
    })),
    edges: graph.edges.map(({ id, from, to, kind }) => ({
      id,
      source: from,
      target: to,
      className: `edge-${kind}`,
      ...(kind === 'dependency' ? { markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 } } : {}),
    })),
  }
}
