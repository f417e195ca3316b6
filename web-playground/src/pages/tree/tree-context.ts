import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Row } from '../../model/object.ts'
import type { GraphSource } from '../../model/tree-graph.ts'

/** A tree as it is, or as it was: what of it is drawn, and when it has changed. */
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

/** One object: a row is replaced when it changes, so only those nodes are drawn anew that have. */
export function useRow(id: string): Row | undefined {
  const { tree } = useTreeView()
  return useSyncExternalStore(tree.watch, () => tree.model.nodes.get(id))
}

/** Draws anew whenever anything in the tree has changed. */
export const useVersion = (tree: ShownTree): number => useSyncExternalStore(tree.watch, tree.version)
