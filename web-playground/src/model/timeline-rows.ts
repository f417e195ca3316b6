import type { Row } from './object.ts'
import type { Lane, Segment, Timeline } from './timeline.ts'

export interface TimelineRow {
  readonly id: string
  readonly kind: string
  readonly name: string
  /** 0: the root. */
  readonly depth: number
  readonly isGone: boolean
}
export interface RowSource {
  readonly rootId: string
  readonly nodes: ReadonlyMap<string, Row>
  /** The parent, of deleted objects too where it is known. */
  parentOf(id: string): string | undefined
}

/** Every object of the tree, deleted ones too, each below its parent, in the order of creation. */
export function timelineRows(timeline: Timeline, tree: RowSource): readonly TimelineRow[] {
  const known = new Map<string, Pick<Row, 'id' | 'kind' | 'name'>>([...timeline.lanes])
  for (const [id, row] of tree.nodes) known.set(id, row)
  const children = new Map<string, string[]>()
  // Ids are in the order of creation.
  for (const id of [...known.keys()].sort()) {
    if (id === tree.rootId) continue
    const parent = tree.parentOf(id)
    const above = parent !== undefined && known.has(parent) ? parent : tree.rootId
    const siblings = children.get(above)
    if (siblings) siblings.push(id)
    else children.set(above, [id])
  }
  const rows: TimelineRow[] = []
  const stack = known.has(tree.rootId) ? [{ id: tree.rootId, depth: 0 }] : []
  for (let at = stack.pop(); at; at = stack.pop()) {
    const { id, depth } = at
    const object = known.get(id)
    if (!object) continue
    rows.push({ id, kind: object.kind, name: object.name, depth, isGone: !tree.nodes.has(id) })
    for (const child of (children.get(id) ?? []).toReversed()) stack.push({ id: child, depth: depth + 1 })
  }
  return rows
}

/** The present phase of an object without known changes. */
export function segmentsOf(lane: Lane | undefined, row: Row | undefined): readonly Segment[] {
  if (lane && lane.segments.length > 0) return lane.segments
  return row ? [{ phase: row.phase, from: Date.parse(row.phaseSince), to: null, change: null }] : []
}
