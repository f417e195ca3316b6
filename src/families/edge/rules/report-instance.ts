import { objectFailure } from '../../../core/errors.ts'
import type { Report } from '../../../core/ports/agents.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { ReportVerdict } from '../../family.ts'
import { noteProgress } from '../../note-progress.ts'
import { instanceDetails } from './details.ts'
import { fail, succeed, undone, vanish } from './end-operation.ts'
import { isFailed, operationAt, operationOf } from './operations.ts'
import { heard } from './requests.ts'

const ACCEPTED: ReportVerdict = { ok: true, changed: true }
const UNCHANGED: ReportVerdict = { ok: true, changed: false }
const refused = (to: Phase): ReportVerdict => ({ ok: false, refused: 'TRANSITION', to })

/** Applies a CRM's report with a valid fence, if the guard allows it. A repeated report changes nothing. */
export function reportInstance(node: Node, report: Report, by: Principal, slice: Slice): ReportVerdict {
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
  const change = { actor: 'CRM', by, message: report.message ?? null } as const
  if (phase === 'READY') succeed(node, slice, change)
  else if (phase === 'NOT_PRESENT') vanish(node, slice, { ...change, reason: 'removed' })
  else if (isFailed(phase)) fail(node, slice, { ...change, error: errorOf(report, phase), unseen: false })
  else {
    slice.move(node, phase, change)
    // The controller follows DELETED.
    slice.touch(node)
  }
  return ACCEPTED
}

/** The CRM undoes an operation that was withdrawn or has timed out. It reports the result, and the controller moves. */
function reportUndo(node: Node, report: Report, phase: Phase, slice: Slice): ReportVerdict {
  const undo = operationOf(operationAt(node.row.phase)?.undo ?? 'DELETE')
  const ends: readonly Phase[] = undo.action === 'DELETE' ? ['NOT_PRESENT', 'DELETED'] : ['READY']
  if (ends.includes(phase)) {
    // The CRM has applied the spec again, so nothing has drifted.
    undone(node, slice, { drifted: false })
    return ACCEPTED
  }
  if (phase === undo.working) heard(node, slice)
  // The CRM gets the request again after the timeout.
  else if (phase === undo.failed) {
    const { code, message } = errorOf(report, phase)
    slice.setError(node, objectFailure(slice, code, message))
  } else return refused(phase)
  return UNCHANGED
}

const errorOf = ({ error, message }: Report, to: Phase) =>
  error ? { code: error.code, message: error.message } : { code: to, message: message ?? 'Its CRM gave no reason.' }
