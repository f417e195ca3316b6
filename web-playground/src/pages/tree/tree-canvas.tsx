import { Background, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react'
import { memo, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { HistoryStore } from '../../data/history-store.ts'
import type { WorkFactsStore } from '../../data/work-facts-store.ts'
import { type CriticalPath, drawnPath } from '../../model/critical-path.ts'
import { unfiltered, withFold, withOpen } from '../../model/graph-changes.ts'
import type { GraphView } from '../../model/graph-view.ts'
import '@xyflow/react/dist/base.css'
import { boxesAround, type GraphNode } from '../../model/tree-graph.ts'
import type { Labels } from '../../model/tree-model.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { GraphBar } from './graph-bar.tsx'
import { GraphMap } from './graph-map.tsx'
import { GroupNode } from './group-node.tsx'
import { Marks } from './marks.ts'
import { ObjectNode } from './object-node.tsx'
import { layoutOf, type Placed, place } from './placed-graph.ts'
import { RouteEdge } from './route-edge.tsx'
import { type ShownTree, TreeContext } from './tree-context.ts'
import { useGraph } from './use-graph.ts'
import { useGraphKeys } from './use-graph-keys.ts'
import { useLayout } from './use-layout.ts'
import { FIT, useSight } from './use-sight.ts'
import { useWorkFacts } from './use-work-facts.ts'
import { ZoomButtons } from './zoom-buttons.tsx'
import { ZoomLevel } from './zoom-level.tsx'

interface Props {
  readonly tree: ShownTree
  readonly facts: WorkFactsStore | null
  readonly history: HistoryStore | null
  readonly labels: Labels
  readonly view: GraphView
  readonly path: CriticalPath
  readonly selected: string
  readonly onShow: (view: GraphView, how?: { readonly object?: string; readonly replace?: boolean }) => void
}

const NODE_TYPES = { object: ObjectNode, siblings: GroupNode }
const EDGE_TYPES = { route: RouteEdge }
/** If there are more nodes, only those in sight are in the page. */
const MANY = 100
const filterOf = ({ name, phases, failed }: GraphView): string => JSON.stringify([name, phases, failed])
/** Width to height of the graph: on a narrow screen it is as high as wide. */
const aspectOfScreen = (): number => (innerWidth <= 900 ? 0.9 : 1.65)

/** Nodes and edges get a new layout when objects are added or removed; a phase change draws only its node again. */
export function TreeCanvas(props: Props) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  )
}

function Canvas({ tree, facts, history, labels, view, path, selected, onShow }: Props) {
  const { graph, selectedNode, matching } = useGraph(tree, { view, selected, labels })
  const [aspect] = useState(aspectOfScreen)
  const layout = useMemo(() => layoutOf(graph, tree, aspect), [graph, tree, aspect])
  const { laid, error, retry } = useLayout(graph, layout)
  const placed = useMemo(() => laid && place(laid.graph, laid.nested, tree), [laid, tree])
  useWorkFacts(facts, graph, tree)
  const now = useRef({ view, graph, selectedNode, onShow })
  now.current = { view, graph, selectedNode, onShow }
  const onSelect = useCallback((object: string): void => {
    const { view, graph, onShow } = now.current
    onShow(withOpen(view, graph.revealed), { object })
  }, [])
  const folded = useRef<string | null>(null)
  const onFold = useCallback((node: GraphNode, to: 'open' | 'closed'): void => {
    const { view, graph, selectedNode, onShow } = now.current
    folded.current = node.id
    onShow(withFold(view, node, to, boxesAround(graph, selectedNode).includes(node.id)))
  }, [])
  const canvas = useRef<HTMLDivElement>(null)
  const keys = useGraphKeys(canvas, { placed, selected: selectedNode, onFold })
  const isLarge = placed !== null && placed.nodes.length > MANY
  const [marks] = useState(() => new Marks())
  const critical = useMemo(() => drawnPath(graph, path), [graph, path])
  // A node out of sight is not in the page, so Tab leads to all of them.
  useLayoutEffect(() => marks.set(selectedNode, isLarge ? undefined : keys.stop, critical))
  const context = useMemo(
    () => ({ tree, facts, history, marks, onSelect, onFold, onDrawn: keys.onDrawn, onAwait: keys.onAwait }),
    [tree, facts, history, marks, onSelect, onFold, keys.onDrawn, keys.onAwait],
  )
  return (
    <TreeContext value={context}>
      <section className="view" aria-label="The tree as a graph" aria-busy={placed === null && error === null}>
        <GraphBar view={view} rows={tree.model.nodes} labels={labels} matching={matching} onView={onShow} />
        {error !== null && (
          <Problem message={`The graph cannot be laid out. ${error} The timeline lists its objects.`} onRetry={retry} />
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the buttons in it */}
        <div className="canvas" ref={canvas} onKeyDown={keys.onKeyDown} onFocus={keys.onFocus} data-far="near">
          {placed && placed.nodes.length > 0 && (
            <Drawing {...{ placed, now, folded, canvas, filter: filterOf(view) }} />
          )}
          {placed?.nodes.length === 0 && <NoMatch onAll={() => onShow(unfiltered(view))} />}
          {!placed && error === null && <Loading what="the graph" />}
        </div>
        <Foot />
      </section>
    </TreeContext>
  )
}

interface DrawingProps {
  readonly placed: Placed
  readonly now: { readonly current: { readonly selectedNode: string | undefined } }
  readonly folded: { current: string | null }
  readonly canvas: { readonly current: HTMLElement | null }
  readonly filter: string
}
/** Drawn again for another graph only: the page is drawn again with each change of the tree, and each selection. */
const Drawing = memo(({ placed, now, folded, canvas, filter }: DrawingProps) => {
  useSight({ placed, now, folded, filter })
  return (
    <ReactFlow
      nodes={placed.nodes}
      edges={placed.edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      disableKeyboardA11y
      deleteKeyCode={null}
      minZoom={0.03}
      maxZoom={2}
      onlyRenderVisibleElements={placed.nodes.length > MANY}
      proOptions={{ hideAttribution: true }}
    >
      <Background gap={24} />
      <ZoomLevel canvas={canvas} />
      <GraphMap size={placed.box} />
    </ReactFlow>
  )
})
Drawing.displayName = 'Drawing'

function NoMatch({ onAll }: { readonly onAll: () => void }) {
  return (
    <Empty title="Nothing in this tree matches.">
      <button type="button" onClick={onAll}>
        Show all
      </button>
    </Empty>
  )
}

function Foot() {
  const { zoomIn, zoomOut, fitView } = useReactFlow()
  return (
    <div className="view-foot">
      <ZoomButtons onIn={() => void zoomIn()} onOut={() => void zoomOut()} onFit={() => void fitView(FIT)} />
      <p className="legend">
        <span className="line" aria-hidden="true">
          →
        </span>{' '}
        <span aria-hidden="true">must be done first</span>
        <span className="hidden">
          Arrow keys go from node to node: up and down in their order, left and right along dependencies and into boxes.
          Plus and minus open and close a box.
        </span>
      </p>
    </div>
  )
}
