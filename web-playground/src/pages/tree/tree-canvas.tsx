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
/** Smaller than this nobody can read the names. */
const READABLE = 0.55
const CLOSE = 0.8
/** Between two layers that are beside each other. */
const LAYERS_PX = 40

/** Nodes and edges are laid out when objects come and go; a phase change draws the one node anew. */
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

/** A tree that grows under our eyes stays in sight, until somebody has moved it. */
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
      // Too large to be read as a whole.
      else await setViewport(nearTo(at, placed, { width, height }))
      fitted.current = JSON.stringify(getViewport())
    })
    return () => cancelAnimationFrame(frame)
  }, [placed, flow, fitView, setViewport, getViewport])
  return null
}

const EDGE_PX = 16

/** What is selected, and what is around it; of the root that is what comes after it: it keeps to the side it begins at. */
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
/** So much better the other direction must be before a tree is turned under the eyes of its reader. */
const WORTH_TURNING = 1.25

/** In the direction in which it can be drawn larger. */
function place(graph: TreeGraph, direction: { current: Direction }): Placed {
  const boxes = graph.nodes.map(({ id }) => ({ id, ...NODE_SIZE }))
  const now = layered(boxes, graph.edges, direction.current)
  const turned: Direction = direction.current === 'LR' ? 'TB' : 'LR'
  const other = layered(boxes, graph.edges, turned)
  if (zoomOf(other) <= zoomOf(now) * WORTH_TURNING) return drawn(graph, now, direction.current)
  direction.current = turned
  return drawn(graph, other, turned)
}

/** About as large as the canvas will be: it is not there yet. */
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
