import type { Report } from '../../core/ports/agents.ts'
import type { Node, Slice } from '../../core/tree.ts'
import type { Phase } from '../../core/vocabulary.ts'
import type { ReportVerdict } from '../family.ts'
import { noteProgress } from '../note-progress.ts'
import { instanceDetails } from './details.ts'
import { fail, failureOf, succeed, undone, vanish } from './end-operation.ts'
import { isFailed, operationAt, operationOf } from './operations.ts'
import { heard } from './requests.ts'

const ACCEPTED: ReportVerdict = { ok: true, changed: true }
const UNCHANGED: ReportVerdict = { ok: true, changed: false }
const refused = (to: Phase): ReportVerdict => ({ ok: false, refused: 'TRANSITION', to })

/** A CRM's report whose fence is right. Judged by the guard; a repeated one changes nothing. */
export function reportInstance(node: Node, report: Report, by: string, slice: Slice): ReportVerdict {
  const { phase, progress, message } = report
  noteProgress(node, { progress, message: phase ? null : message }, slice)
  if (!phase) {
    heard(node, slice)
    return UNCHANGED
  }
  if (isFailed(node.row.phase) && instanceDetails(node).undoing) return reportUndo(node, report, phase, slice)
  const verdict = slice.judge(node, 'CRM', phase)
  if (!verdict.ok) return refused(phase)
  heard(node, slice)
  if (!verdict.changed) return UNCHANGED
  const told = { actor: 'CRM', by, message: report.message ?? null } as const
  if (phase === 'READY') succeed(node, slice, told)
  else if (phase === 'NOT_PRESENT') vanish(node, slice, { ...told, reason: 'removed' })
  else if (isFailed(phase)) fail(node, slice, { ...told, error: errorOf(report, phase), unseen: false })
  else {
    slice.move(node, phase, told)
    // DELETED is taken note of by the controller.
    slice.touch(node)
  }
  return ACCEPTED
}

/** What was withdrawn or has timed out is being taken back: the CRM says how that goes, the controller moves. */
function reportUndo(node: Node, report: Report, phase: Phase, slice: Slice): ReportVerdict {
  const undo = operationOf(operationAt(node.row.phase)?.undo ?? 'DELETE')
  const ends: readonly Phase[] = undo.action === 'DELETE' ? ['NOT_PRESENT', 'DELETED'] : ['READY']
  if (ends.includes(phase)) {
    // It was made so once more, whatever it had been.
    undone(node, slice, { drifted: false })
    return ACCEPTED
  }
  if (phase === undo.working) heard(node, slice)
  // It is asked again when its time is up.
  else if (phase === undo.failed) slice.setError(node, failureOf(errorOf(report, phase), slice))
  else return refused(phase)
  return UNCHANGED
}

const errorOf = ({ error, message }: Report, to: Phase) =>
  error ? { code: error.code, message: error.message } : { code: to, message: message ?? 'Its CRM gave no reason.' }
