import { type GraphView, MOST_BOXES } from './graph-view.ts'
import { classOf } from './known.ts'
import type { Row } from './object.ts'
import type { Folds, GraphNode } from './tree-graph.ts'

/** Reads and changes of the part of a tree that its graph shows; the address is in every page, these are not. */

export const foldsOf = ({ open, closed }: GraphView): Folds =>
  new Map([...open.map((id) => [id, 'open'] as const), ...closed.map((id) => [id, 'closed'] as const)])

/** Opens or closes a box. The address has only what differs from the default. */
export function withFold(
  view: GraphView,
  { id, byDefault }: Pick<GraphNode, 'id' | 'byDefault'>,
  to: 'open' | 'closed',
  holdsSelected: boolean,
): GraphView {
  const without = (ids: readonly string[]): readonly string[] => ids.filter((one) => one !== id)
  const rest = { ...view, open: without(view.open), closed: without(view.closed) }
  // The selected object would open its box again.
  const isDefault = to === byDefault && !(to === 'closed' && holdsSelected)
  return isDefault ? rest : { ...rest, [to]: [...rest[to], id].slice(-MOST_BOXES) }
}

/** Keeps boxes open that the selection has opened. */
export const withOpen = (view: GraphView, ids: readonly string[]): GraphView =>
  ids.length === 0 ? view : { ...view, open: [...new Set([...view.open, ...ids])].slice(-MOST_BOXES) }

/** The same part, with all objects. */
export const unfiltered = (view: GraphView): GraphView => ({ ...view, name: '', phases: [], failed: false })

export const isFiltered = ({ name, phases, failed }: GraphView): boolean => name !== '' || phases.length > 0 || failed

export function matchesView({ name, phases, failed }: GraphView, row: Row): boolean {
  return (
    row.name.toLowerCase().includes(name.toLowerCase()) &&
    (phases.length === 0 || phases.includes(row.phase)) &&
    (!failed || classOf(row.phase) === 'FAILED')
  )
}
