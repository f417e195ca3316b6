import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import { installation } from './details.ts'
import { keep } from './finish.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    dependencyCounts: { readonly args: string; readonly answer: Counts }
    dependentCounts: { readonly args: string; readonly answer: Counts }
  }
}

/** Starts children: a parent gives them its job id, all at once. */
export function startChildren(parent: Node, slice: Slice): void {
  const children = slice.children(parent)
  if (!children) return
  const waiting = knownCounts(children, slice) ?? slice.ask('dependencyCounts', parent.row.id)
  if (!waiting) return
  const jobId = parent.row.jobId as string
  const ignored = children.filter(isIgnored)
  for (const child of children) {
    slice.patch(child, { waitingFor: waiting[child.row.id] ?? 0 })
    if (ignored.includes(child)) continue
    slice.patch(child, { jobId })
    slice.touch(child)
  }
  const failed = ignored.filter((child) => child.row.phase !== 'SUCCEEDED').length
  slice.setChildCounts(parent, {
    total: children.length,
    untriggered: 0,
    open: children.length - ignored.length,
    failed,
    cursor: 0,
  })
  for (const child of ignored) keep(child, slice, jobId)
  slice.move(parent, 'PROGRESSING')
  slice.touch(parent)
}

type Counts = Readonly<Record<string, number>>

/** Number of each child's dependencies, if all are in memory, as in a new tree. */
function knownCounts(children: readonly Node[], slice: Slice): Counts | undefined {
  const counts: Record<string, number> = {}
  for (const child of children) {
    const dependencies = slice.known(child, 'dependencies')
    if (!dependencies) return undefined
    counts[child.row.id] = dependencies.length
  }
  return counts
}

/** An ignored installation in a final phase starts nothing and counts with its present phase. */
const isIgnored = (node: Node): boolean =>
  node.row.kind === 'INSTALLATION' && node.row.phase !== 'PENDING' && isFinished(node.row) && installation(node).ignored

export function startDeletionOfChildren(parent: Node, slice: Slice): void {
  const children = slice.children(parent)
  const waiting = slice.ask('dependentCounts', parent.row.id)
  if (!children || !waiting) return
  const ignored = children.filter(isIgnored)
  for (const child of children) {
    slice.patch(child, { waitingFor: waiting[child.row.id] ?? 0 })
    if (ignored.includes(child)) continue
    slice.patch(child, { jobId: parent.row.jobId })
    slice.touch(child)
  }
  const total = children.length
  slice.setChildCounts(parent, {
    total,
    untriggered: ignored.length,
    open: total - ignored.length,
    failed: 0,
    cursor: 0,
  })
  slice.move(parent, 'DELETING')
  slice.touch(parent)
}

/** Starts a child without a job: the next orphan, or a child that is no longer ignored. */
export function takeOver(child: Node, slice: Slice): void {
  const parent = slice.parent(child)
  const jobId = parent?.row.jobId ?? null
  if (!parent || jobId === null || isFinished(parent.row) || child.row.jobId === jobId) return
  const { phase } = parent.row
  const orphan = phase === 'CLEANUP_ORPHANED' && child.row.waitingFor === 0 && parent.childCounts.failed === 0
  if (!child.row.deletionRequestedAt || !(orphan || phase === 'DELETING') || isIgnored(child)) return
  if (installation(slice.root).cancelRequestedAt) return
  slice.addChildCounts(parent, { untriggered: -1, open: 1 })
  slice.patch(child, { jobId })
  slice.touch(child)
}
