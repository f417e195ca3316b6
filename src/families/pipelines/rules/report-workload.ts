import type { Report } from '../../../core/ports/agents.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { finalityOf } from '../../../core/retry.ts'
import { type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { ReportVerdict } from '../../family.ts'
import { noteProgress } from '../../note-progress.ts'
import { isBetweenAttempts } from './attempts.ts'
import { setClock } from './decide-workload.ts'
import { isOver } from './details.ts'
import { endWorkload, freeSlot, moveWorkload } from './end-workload.ts'

const ACCEPTED: ReportVerdict = { ok: true, changed: true }
/** Someone else has ended or removed any other, and it may even have succeeded. */
const ATTEMPT_FAILED: ReadonlySet<Phase> = new Set(['FAILED', 'SCHEDULING_FAILED'])
const UNCHANGED: ReportVerdict = { ok: true, changed: false }
/** SHA-1 or SHA-256. */
const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/

/** Applies a runtime's report with a valid fence, if the guard allows it. A repeated report changes nothing. */
export function reportWorkload(node: Node, report: Report, by: Principal, slice: Slice): ReportVerdict {
  if (report.done) return removed(node, slice)
  if (!report.phase) {
    noteProgress(node, report, slice)
    return UNCHANGED
  }
  // The fence is that of an attempt that has ended, until its removal is claimed. Its repeated failure is known.
  if (node.row.phase === 'PENDING' && isOver(report.phase) && report.phase !== 'SUCCEEDED') return UNCHANGED
  const verdict = slice.judge(node, 'RUNTIME', report.phase)
  if (!verdict.ok) return { ok: false, refused: 'TRANSITION', to: report.phase }
  const { progress, message = null } = report
  noteProgress(node, { progress, message: verdict.changed ? null : message }, slice)
  if (!verdict.changed) return UNCHANGED
  const { commit, ...exit } = resultOf(report.exports)
  if (commit !== null) slice.setDetails(node, { commit })
  if (!isOver(report.phase)) {
    moveWorkload(node, slice, report.phase, { actor: 'RUNTIME', by, message })
    slice.setWork(node, { leaseWatched: true })
    setClock(node, slice)
    return ACCEPTED
  }
  endWorkload(node, slice, {
    to: report.phase,
    actor: 'RUNTIME',
    by,
    message,
    error: errorOf(report),
    mayRetry: ATTEMPT_FAILED.has(report.phase),
    ...exit,
  })
  return ACCEPTED
}

function removed(node: Node, slice: Slice): ReportVerdict {
  const { work } = node
  if (work?.action !== 'REMOVE' || work.state === WORK_STATE.DONE) return UNCHANGED
  slice.setDetails(node, { removedAt: slice.now })
  slice.setWork(node, { state: WORK_STATE.DONE, dueAt: null, doneAt: slice.now, leaseUntil: null })
  freeSlot(node, slice)
  // The next attempt, of its worker if it has one, has waited for it.
  const waiting = [node, slice.parent(node)].find((one) => one && isBetweenAttempts(one))
  if (waiting) slice.touch(waiting)
  return UNCHANGED
}

function errorOf({ phase, error, message }: Report) {
  if (phase === 'SUCCEEDED') return null
  if (error) return { code: error.code, message: error.message, ...finalityOf(error) }
  return { code: phase ?? 'FAILED', message: message ?? 'Its runtime gave no reason.' }
}

interface Result {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly commit: string | null
}
/** The result in a runtime's report, which has the commit as soon as it is RUNNING. */
function resultOf(exports: unknown): Result {
  const { exitCode, signal, commit } = (typeof exports === 'object' && exports !== null ? exports : {}) as Record<
    string,
    unknown
  >
  return {
    exitCode: Number.isInteger(exitCode) && Math.abs(exitCode as number) < 2 ** 31 ? (exitCode as number) : null,
    signal: typeof signal === 'string' ? signal.slice(0, 32) : null,
    commit: typeof commit === 'string' && COMMIT.test(commit) ? commit : null,
  }
}
