import { useEffect } from 'react'
import type { WorkFactsStore } from '../../data/work-facts-store.ts'
import type { TreeGraph } from '../../model/tree-graph.ts'
import type { ShownTree } from './tree-context.ts'

/** Reads progress and attempts of the objects that are drawn one by one. */
export function useWorkFacts(facts: WorkFactsStore | null, graph: TreeGraph, { model }: ShownTree): void {
  useEffect(() => {
    facts?.want(graph.nodes.flatMap(({ id }) => model.nodes.get(id) ?? []))
  }, [facts, graph, model])
}
