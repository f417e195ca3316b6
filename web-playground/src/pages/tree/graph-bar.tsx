import { useCallback } from 'react'
import { GRAPH_VIEW, type GraphView } from '../../model/graph-view.ts'
import type { Row } from '../../model/object.ts'
import { ROOM } from '../../model/tree-graph.ts'
import type { Labels } from '../../model/tree-model.ts'
import { plural } from '../../model/words.ts'
import { Choice } from '../../ui/choice.tsx'
import { SearchField } from '../../ui/search-field.tsx'

interface Props {
  readonly view: GraphView
  readonly rows: ReadonlyMap<string, Row>
  readonly labels: Labels
  /** The number of objects that match; null without a filter. */
  readonly matching: number | null
  readonly onView: (view: GraphView, how?: { readonly replace?: boolean }) => void
}

/** Finds objects in the graph, and says how its groups are made. */
export function GraphBar({ view, rows, labels, matching, onView }: Props) {
  // The page is drawn again with each change of the tree: another function would begin the pause in typing anew.
  const search = useCallback((name: string): void => onView({ ...view, name }, { replace: true }), [view, onView])
  const phases = [...new Set([...rows.values()].map(({ phase }) => phase).concat(view.phases))].sort()
  const keys = [...new Set([...labels.values()].flatMap((of) => [...of.keys()]))].sort()
  return (
    <search className="filters graph-bar">
      <SearchField label="Find in this tree" placeholder="find by name…" value={view.name} onChange={search} />
      <Choice
        label="Phase"
        value={view.phases.join(',')}
        all="All phases"
        onChange={(phase) => onView({ ...view, phases: GRAPH_VIEW.fields.phases.read(phase) })}
      >
        {choices(phases, view.phases)}
      </Choice>
      {keys.length > 0 && rows.size > ROOM && (
        <Choice label="Groups" value={view.label} all="Groups by name" onChange={(label) => onView({ ...view, label })}>
          {keys.map((key) => [key, `Groups by ${key}`])}
        </Choice>
      )}
      <label className="check">
        <input
          type="checkbox"
          checked={view.failed}
          onChange={({ target }) => onView({ ...view, failed: target.checked })}
        />{' '}
        Failed only
      </label>
      <span className="quiet" role="status">
        {matching !== null && `${matching.toLocaleString('en')} of ${plural(rows.size, 'object')}`}
      </span>
    </search>
  )
}

/** Several phases may be in an address: they are one choice. */
function choices(phases: readonly string[], chosen: readonly string[]): readonly (readonly string[])[] {
  const several = chosen.length > 1 ? [chosen.join(',')] : []
  return [...several, ...phases].map((phase) => [phase, phase])
}
