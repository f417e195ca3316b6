import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Row } from '../../model/object.ts'
import type { GraphSource } from '../../model/tree-graph.ts'

/** The shown tree, present or past: its drawn part, and its changes. */
export interface ShownTree {
  readonly model: GraphSource & { readonly nodes: ReadonlyMap<string, Row>; readonly structure: number }
  readonly watch: (watcher: () => void) => () => void
  readonly version: () => number
}
interface TreeView {
  readonly tree: ShownTree
  readonly onSelect: (id: string) => void
  readonly onFold: (id: string, to: 'open' | 'closed') => void
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

/** Draws again whenever anything in the tree has changed. */
export const useVersion = (tree: ShownTree): number => useSyncExternalStore(tree.watch, tree.version)
