import { type ClassCounts, PHASE_CLASSES } from 'phaseline/client-model'
import { countPhases } from '../../model/known.ts'
import type { GraphNode } from '../../model/tree-graph.ts'
import { useTreeView, useVersion } from './tree-context.ts'

/** Numbers of objects by class of their phases as a bar, the worst first: it is seen from afar. */
export function ClassBar({ counts }: { readonly counts: ClassCounts }) {
  return (
    <span className="class-bar" aria-hidden="true">
      {PHASE_CLASSES.filter((one) => counts[one] > 0).map((one) => (
        <span key={one} className={`is-${one.toLowerCase()}`} style={{ flexGrow: counts[one] }} />
      ))}
    </span>
  )
}

export function useCounts(ids: readonly string[]): ClassCounts {
  const { tree } = useTreeView()
  useVersion(tree)
  return countPhases(ids.flatMap((id) => tree.model.nodes.get(id)?.phase ?? []))
}

interface FoldButtonProps {
  readonly node: GraphNode
  readonly name: string
  readonly isStop: boolean
}
/** Opens or closes a box. The keys + and − do the same. */
export function FoldButton({ node, name, isStop }: FoldButtonProps) {
  const { onFold } = useTreeView()
  if (node.state === null) return null
  const isOpen = node.state === 'open'
  return (
    <button
      type="button"
      className="node-fold nodrag"
      tabIndex={isStop ? 0 : -1}
      aria-label={`${isOpen ? 'Close' : 'Open'} ${name}`}
      aria-expanded={isOpen}
      onClick={(event) => {
        event.stopPropagation()
        onFold(node, isOpen ? 'closed' : 'open')
      }}
    >
      {isOpen ? '–' : '+'}
    </button>
  )
}
