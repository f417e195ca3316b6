import { useMemo } from 'react'
import type { HistoryStore } from '../../data/history-store.ts'
import type { TreeStore } from '../../data/tree-store.ts'
import { type CriticalPath, criticalPath, NO_PATH } from '../../model/critical-path.ts'
import { lastSpan } from '../../model/timeline-runs.ts'

/** The critical path of the last run, up to the last change while it has not ended. */
export function useCriticalPath(tree: TreeStore, { timeline }: HistoryStore, isWanted: boolean): CriticalPath {
  const { model } = tree
  const { structure } = model
  const known = timeline.changes.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stores are the same objects; these say when there is more in them
  return useMemo(() => {
    if (!isWanted) return NO_PATH
    const now = Math.max(Date.now(), Date.parse(timeline.last?.at ?? ''))
    const awaited = new Map<string, string[]>()
    for (const { from, to } of model.dependencies) {
      const found = awaited.get(from)
      if (found) found.push(to)
      else awaited.set(from, [to])
    }
    const spans = new Map<string, { from: number; to: number }>()
    for (const lane of timeline.lanes.values()) {
      const span = lastSpan(lane)
      if (span) spans.set(lane.id, { from: span.from, to: span.to ?? now })
    }
    return criticalPath({
      rootId: model.rootId,
      spans,
      childrenOf: (id) => model.childrenOf(id),
      parentOf: (id) => model.parentOf(id),
      dependenciesOf: (id) => awaited.get(id) ?? [],
    })
  }, [model, timeline, structure, known, isWanted])
}
