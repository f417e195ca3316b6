import { isExpired } from '../../src/core/lease.ts'
import type { Report } from '../../src/core/ports/agents.ts'
import type { Principal } from '../../src/core/ports/viewer.ts'
import { type MoveOptions, NEW_WORK, type Node, type Slice, WORK_STATE } from '../../src/core/tree.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import type { Family, ReportVerdict } from '../../src/families/family.ts'
import { noteProgress } from '../../src/families/note-progress.ts'
import { backup } from './machines.ts'

export const WORK_TYPE = 'backup'

export const rules: Family = {
  name: 'backups',
  machines: [backup],
  // All that there is to know of a backup is in its spec.
  details: [],
  decide,
  onWake: () => {},
  report,
  claimed(node, by, slice) {
    slice.move(node, 'COPYING', { actor: 'COPIER', by })
    slice.setWork(node, { leaseWatched: true, pickedUpAt: slice.now })
  },
  questions: {},
  effects: {},
}

/** Offers the first work of a new backup. */
export function offer(node: Node, slice: Slice, config: unknown): void {
  slice.patch(node, { jobId: slice.newId() })
  slice.setWork(node, {
    ...NEW_WORK,
    type: WORK_TYPE,
    target: null,
    action: 'COPY',
    config,
    jobId: node.row.jobId,
    triggeredAt: slice.now,
  })
}

export function end(node: Node, slice: Slice, to: Phase, options: MoveOptions = {}): void {
  slice.move(node, to, options)
  slice.setWork(node, { state: WORK_STATE.DONE, doneAt: slice.now, leaseUntil: null, leaseWatched: false })
  slice.patch(node, { finishedJobId: node.row.jobId })
}

function decide(node: Node, slice: Slice): void {
  const { work, row } = node
  if (row.phase !== 'COPYING' && row.phase !== 'ABORTING') return
  if (work?.state !== WORK_STATE.CLAIMED || !isExpired(work.leaseUntil, slice.now)) return
  end(node, slice, 'FAILED', { reason: 'COPIER_LOST', message: `Nothing was heard of its copier ${work.instance}.` })
}

function report(node: Node, { phase, message = null, progress }: Report, by: Principal, slice: Slice): ReportVerdict {
  noteProgress(node, { progress, message: phase ? null : message }, slice)
  if (!phase) return { ok: true, changed: false }
  const verdict = slice.judge(node, 'COPIER', phase)
  if (!verdict.ok) return { ok: false, refused: 'TRANSITION', to: phase }
  if (verdict.changed) end(node, slice, phase, { actor: 'COPIER', by, message })
  return { ok: true, changed: verdict.changed }
}
