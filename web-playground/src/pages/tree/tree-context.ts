import { createContext, useContext, useSyncExternalStore } from 'react'
import type { TreeStore } from '../../data/tree-store.ts'
import type { Row } from '../../model/object.ts'

export interface TreeView {
  readonly tree: TreeStore
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
export const useVersion = (tree: TreeStore): number => useSyncExternalStore(tree.watch, tree.version)
