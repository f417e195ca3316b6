import { createContext, useContext, useSyncExternalStore } from 'react'
import type { HistoryStore } from '../../data/history-store.ts'
import type { WorkFactsStore } from '../../data/work-facts-store.ts'
import type { GraphSource } from '../../model/drawn-tree.ts'
import type { Row } from '../../model/object.ts'
import { runMs } from '../../model/timeline-runs.ts'
import type { GraphNode } from '../../model/tree-graph.ts'
import type { WorkFacts } from '../../model/work-facts.ts'
import type { Marks } from './marks.ts'

/** The shown tree, present or past: its objects, and its changes. */
export interface ShownTree {
  readonly model: Omit<GraphSource, 'nodes'> & { readonly nodes: ReadonlyMap<string, Row>; readonly structure: number }
  readonly watch: (watcher: () => void) => () => void
  readonly version: () => number
}
interface TreeView {
  readonly tree: ShownTree
  /** Null for the past, as `history`: they know the present alone. */
  readonly facts: WorkFactsStore | null
  readonly history: HistoryStore | null
  readonly marks: Marks
  readonly onSelect: (id: string) => void
  readonly onFold: (node: GraphNode, to: 'open' | 'closed') => void
  /** The button of a node that has just been drawn; it takes the focus if that was led there. */
  readonly onDrawn: (id: string, button: HTMLButtonElement | null) => void
  /** The node takes the focus once it is drawn. */
  readonly onAwait: (id: string) => void
}
export const TreeContext = createContext<TreeView | null>(null)

export function useTreeView(): TreeView {
  const view = useContext(TreeContext)
  if (!view) throw new Error('there is no tree')
  return view
}

/** One object. A changed row is a new object, so only changed nodes are drawn again. */
export function useRow(id: string): Row | undefined {
  const { tree } = useTreeView()
  return useSyncExternalStore(tree.watch, () => tree.model.nodes.get(id))
}

/** The marks of one node. */
export function useMarks(id: string): {
  readonly selected: boolean
  readonly isStop: boolean
  readonly isCritical: boolean
} {
  const { marks } = useTreeView()
  const selected = useSyncExternalStore(marks.watch, () => marks.isSelected(id))
  const isStop = useSyncExternalStore(marks.watch, () => marks.isStop(id))
  return { selected, isStop, isCritical: useIsCritical(id) }
}

/** True if the critical path that is shown leads along the node or edge. */
export function useIsCritical(id: string): boolean {
  const { marks } = useTreeView()
  return useSyncExternalStore(marks.watch, () => marks.isCritical(id))
}

export function useFacts(id: string): WorkFacts | undefined {
  const { facts } = useTreeView()
  return useSyncExternalStore(facts?.watch ?? watchNothing, () => facts?.of(id))
}
/** Milliseconds of the last run of an object, as far as its changes are known. */
export function useRunMs(id: string): number | null {
  const { history } = useTreeView()
  return useSyncExternalStore(history?.watch ?? watchNothing, () => {
    const lane = history?.timeline.lanes.get(id)
    return lane ? runMs(lane) : null
  })
}
const watchNothing = (): (() => void) => () => undefined

/** Draws again whenever anything in the tree has changed. */
export const useVersion = (tree: ShownTree): number => useSyncExternalStore(tree.watch, tree.version)
