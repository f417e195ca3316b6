import {
  Background,
  Controls,
  type Edge,
  MarkerType,
  type Node,
  Position,
  ReactFlow,
  useReactFlow,
  useStoreApi,
} from '@xyflow/react'
import { useEffect, useMemo, useRef } from 'react'
import '@xyflow/react/dist/base.css'
import type { TreeStore } from '../../data/tree-store.ts'
import { type Folds, type TreeGraph, treeGraph } from '../../model/tree-graph.ts'
import { type Layered, layered } from '../../ui/layered.ts'
import { GroupNode } from './group-node.tsx'
import { NODE_SIZE, ObjectNode } from './object-node.tsx'
import { TreeContext } from './tree-context.ts'

interface Props {
  readonly tree: TreeStore
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
      <section className="canvas" aria-label="The tree as a graph">
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
          <Controls showInteractive={false} />
          <FitWhenOther placed={placed} selected={selected} />
        </ReactFlow>
        <Legend />
      </section>
    </TreeContext>
  )
}

/** A tree that grows under our eyes stays in sight, until somebody has moved it. */
function FitWhenOther({ placed, selected }: { readonly placed: Placed; readonly selected: string }) {
  const { fitView, setCenter, getViewport } = useReactFlow()
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
      // Too large to be read as a whole: what is selected, and what is around it.
      else {
        const { x, y } = at.position
        await setCenter(x + NODE_SIZE.width / 2, y + NODE_SIZE.height / 2, { zoom: CLOSE })
      }
      fitted.current = JSON.stringify(getViewport())
    })
    return () => cancelAnimationFrame(frame)
  }, [placed, flow, fitView, setCenter, getViewport])
  return null
}

interface Placed {
  readonly nodes: Node[]
  readonly edges: Edge[]
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

function Legend() {
  return (
    <p className="legend" aria-hidden="true">
      <span className="line solid" /> contains <span className="line dashed" /> must be done first
    </p>
  )
}
