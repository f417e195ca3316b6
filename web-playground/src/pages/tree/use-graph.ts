import { useMemo } from 'react'
import { foldsOf, isFiltered, matchesView } from '../../model/graph-changes.ts'
import type { GraphView } from '../../model/graph-view.ts'
import type { Row } from '../../model/object.ts'
import { type TreeGraph, treeGraph } from '../../model/tree-graph.ts'
import type { Labels } from '../../model/tree-model.ts'
import type { ShownTree } from './tree-context.ts'

interface Shown {
  readonly graph: TreeGraph
  /** The node of the selected object: a wrapper is shown in that of its parent. */
  readonly selectedNode: string | undefined
  /** The number of objects that match; null without a filter. */
  readonly matching: number | null
}
interface Wanted {
  readonly view: GraphView
  readonly selected: string
  readonly labels: Labels
}

/** The drawn part of a tree: another one only when other objects, edges or boxes are in it. */
export function useGraph(tree: ShownTree, { view, selected, labels }: Wanted): Shown {
  const { structure, nodes } = tree.model
  const version = tree.version()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says when rows have changed
  const matching = useMemo(() => idsMatching(nodes, view), [nodes, view, version])
  const key = JSON.stringify([view.open, view.closed, view.label, matching])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the model is the same object; `structure` and `key` say when it is another graph
  const whole = useMemo(() => drawn(tree, view, matching, labels), [tree, structure, key, labels])
  const isHidden = nodeOf(whole, selected) === undefined && nodes.has(selected)
  const hidden = isHidden ? selected : undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const graph = useMemo(
    () => (hidden === undefined ? whole : drawn(tree, view, matching, labels, hidden)),
    [whole, hidden],
  )
  return { graph, selectedNode: nodeOf(graph, selected), matching: matching?.length ?? null }
}

function drawn(
  tree: ShownTree,
  view: GraphView,
  matching: readonly string[] | null,
  labels: Labels,
  reveal?: string,
): TreeGraph {
  const { label } = view
  const ids = matching && new Set(matching)
  return treeGraph(tree.model, {
    folds: foldsOf(view),
    reveal,
    matches: ids ? (id) => ids.has(id) : undefined,
    labelOf: label === '' ? undefined : (id) => labels.get(id)?.get(label),
  })
}

function idsMatching(nodes: ReadonlyMap<string, Row>, view: GraphView): readonly string[] | null {
  if (!isFiltered(view)) return null
  return [...nodes.values()].filter((row) => matchesView(view, row)).map(({ id }) => id)
}

function nodeOf({ nodes }: TreeGraph, id: string): string | undefined {
  const found = nodes.find((node) => node.id === id || (node.state !== 'closed' && node.wrappers.includes(id)))
  return found?.id
}
