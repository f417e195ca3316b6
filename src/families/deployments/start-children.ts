import { isFinished, type Node, type Slice } from '../../core/tree.ts'
import { installation } from './details.ts'
import { keep } from './finish.ts'

/** The job id is what starts a child: a parent hands its own to its children, all at once. */
export function startChildren(parent: Node, slice: Slice): void {
  const children = slice.children(parent)
  if (!children) return
  const waiting = knownCounts(children, slice) ?? slice.ask<Counts>('dependencyCounts', parent.row.id)
  if (!waiting) return
  const jobId = parent.row.jobId as string
  const kept = children.filter(isLeftAlone)
  for (const child of children) {
    slice.patch(child, { waitingFor: waiting[child.row.id] ?? 0 })
    if (kept.includes(child)) continue
    slice.patch(child, { jobId })
    slice.touch(child)
  }
  const failed = kept.filter((child) => child.row.phase !== 'SUCCEEDED').length
  slice.setChildCounts(parent, {
    total: children.length,
    untriggered: 0,
    open: children.length - kept.length,
    failed,
    cursor: 0,
  })
  for (const child of kept) keep(child, slice, jobId)
  slice.move(parent, 'PROGRESSING')
  slice.touch(parent)
}

type Counts = Readonly<Record<string, number>>

/** How many each child depends on, when all of that is in memory, as it is in a new tree. */
function knownCounts(children: readonly Node[], slice: Slice): Counts | undefined {
  const counts: Record<string, number> = {}
  for (const child of children) {
    const dependencies = slice.known(child, 'dependencies')
    if (!dependencies) return undefined
    counts[child.row.id] = dependencies.length
  }
  return counts
}

/** Ignored, in a final phase: nothing is started, and it counts with the phase that it has. */
const isLeftAlone = (node: Node): boolean =>
  node.row.kind === 'INSTALLATION' && node.row.phase !== 'PENDING' && isFinished(node.row) && installation(node).ignored

export function startDeletionOfChildren(parent: Node, slice: Slice): void {
  const children = slice.children(parent)
  const waiting = slice.ask<Counts>('dependentCounts', parent.row.id)
  if (!children || !waiting) return
  const held = children.filter(isLeftAlone)
  for (const child of children) {
    slice.patch(child, { waitingFor: waiting[child.row.id] ?? 0 })
    if (held.includes(child)) continue
    slice.patch(child, { jobId: parent.row.jobId })
    slice.touch(child)
  }
  const total = children.length
  slice.setChildCounts(parent, { total, untriggered: held.length, open: total - held.length, failed: 0, cursor: 0 })
  slice.move(parent, 'DELETING')
  slice.touch(parent)
}

/** A child with no job: an orphan whose turn it is, or one that was ignored and is not any more. */
export function takeOver(child: Node, slice: Slice): void {
  const parent = slice.parent(child)
  const jobId = parent?.row.jobId ?? null
  if (!parent || jobId === null || isFinished(parent.row) || child.row.jobId === jobId) return
  const { phase } = parent.row
  const orphan = phase === 'CLEANUP_ORPHANED' && child.row.waitingFor === 0 && parent.childCounts.failed === 0
  if (!child.row.deletionRequestedAt || !(orphan || phase === 'DELETING') || isLeftAlone(child)) return
  if (installation(slice.root).cancelRequestedAt) return
  slice.addChildCounts(parent, { untriggered: -1, open: 1 })
  slice.patch(child, { jobId })
  slice.touch(child)
}
