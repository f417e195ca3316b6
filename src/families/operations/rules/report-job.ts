import { objectFailure } from '../../../core/errors.ts'
import type { Report } from '../../../core/ports/agents.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { finalityOf } from '../../../core/retry.ts'
import { type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { Actor, Phase } from '../../../core/vocabulary.ts'
import type { ReportVerdict } from '../../family.ts'
import { noteProgress } from '../../note-progress.ts'
import { nextAttempt, park } from './attempts.ts'
import { afterUndo, job } from './details.ts'
import { countFailure, endJob, journal, offerUndo, startRun } from './end-job.ts'
import type { DeclaredLock } from './lock-mode.ts'

const ACCEPTED: ReportVerdict = { ok: true, changed: true }
const UNCHANGED: ReportVerdict = { ok: true, changed: false }

/** Applies a gadget runner's report with a valid fence, if the guard allows it. A repeated report changes nothing. */
export function reportJob(node: Node, report: Report, by: Principal, slice: Slice): ReportVerdict {
  if (!report.phase) {
    noteProgress(node, report, slice)
    return UNCHANGED
  }
  // The fence is that of an attempt that is undone: its failure is known.
  if (node.row.phase === 'PENDING') return report.phase === 'FAILED' ? UNCHANGED : refusedTo(report.phase)
  const to = recordedAs(report.phase, node, slice)
  const verdict = slice.judge(node, 'GADGET_RUNNER', to)
  if (!verdict.ok) return refusedTo(report.phase)
  const { progress, message } = report
  noteProgress(node, { progress, message: verdict.changed ? null : message }, slice)
  if (!verdict.changed) return UNCHANGED
  apply(node, to, { report, by, slice })
  return ACCEPTED
}

const refusedTo = (to: Phase): ReportVerdict => ({ ok: false, refused: 'TRANSITION', to })

const UNDONE: ReadonlySet<Phase> = new Set(['FAILED', 'RUNNING', 'ABORTED'])

/**
 * The phase after undoing depends on the events meanwhile. FAILED means "undone" only after a failure. For an undo after
 * a crash, or for a clean-up, it means that this has failed; the job then neither runs again nor ends.
 */
function recordedAs(phase: Phase, node: Node, slice: Slice): Phase {
  const from = node.row.phase
  if ((from !== 'UNDOING' && from !== 'UNDO_FAILED') || !UNDONE.has(phase)) return phase
  if (phase === 'FAILED' && job(node).undoAfter !== 'FAILURE') return 'UNDO_FAILED'
  if (from !== 'UNDOING') return phase
  const next = afterUndo(node, slice.parent(node))
  return next === 'FAILED' && !isAfterFailure(node, slice) && nextAttempt(node, slice) ? 'PENDING' : next
}

/** Nothing new starts after the failure of another job. */
const isAfterFailure = (node: Node, slice: Slice): boolean => (slice.parent(node)?.childCounts.failed ?? 0) > 0

interface Reported {
  readonly report: Report
  readonly by: Principal
  readonly slice: Slice
}

function apply(node: Node, to: Phase, { report, by, slice }: Reported): void {
  const actor = 'GADGET_RUNNER'
  const message = report.message ?? null
  const error = errorOf(report, to)
  const { phase: from } = node.row
  if (from === 'UNDOING' && to !== 'UNDO_FAILED' && job(node).undoAfter !== 'ABORT') journal(node, slice, 'UNDO')
  switch (to) {
    case 'WAITING':
      if (!areLocks(report.locks ?? []))
        return endJob(node, slice, { to: 'FAILED', actor, by, error: WRONG_LOCKS, satisfies: false })
      slice.setDetails(node, { locks: report.locks ?? [] })
      slice.move(node, to, { actor, by, message })
      // Ends the work, since the end of its lease must not repeat `--getlocks` while the job waits.
      setDone(node, slice)
      return slice.touch(node)
    case 'RUNNING':
      return startRun(node, slice, { actor, by, message })
    case 'UNDOING':
      countFailure(node, slice, () => {
        slice.move(node, to, { actor, by, reason: error.code, message: error.message })
        slice.setDetails(node, { undoAfter: 'FAILURE', keptError: { ...error, ...finalityOf(report.error) } })
      })
      return offerUndo(node, slice)
    case 'PENDING':
      return tryAgain(node, slice, { actor, by })
    case 'UNDO_FAILED':
      countFailure(node, slice, () => slice.move(node, to, { actor, by, reason: error.code, message: error.message }))
      if (from === 'ABORTING') slice.setDetails(node, { undoAfter: 'ABORT' })
      endRetries(node, slice)
      slice.setError(node, objectFailure(slice, error.code, error.message))
      return setDone(node, slice)
    case 'DONE':
      slice.setDetails(node, { exports: exportsOf(report.exports) })
      journal(node, slice, 'DONE')
      return endJob(node, slice, { to, actor, by, message, satisfies: true })
    case 'ABORTED':
      journal(node, slice, 'ABORT')
      return endJob(node, slice, { to, actor, by, message, satisfies: false })
    case 'FAILED':
      if (from === 'UNDOING') journal(node, slice, 'FAILED')
      return endJob(node, slice, { to, actor, by, error: job(node).keptError ?? error, satisfies: false })
    default:
      throw new Error(`no gadget runner moves a job to ${to}`)
  }
}

/** Undone, it gives its locks back, and declares them again at the end of the queue when its time has come. */
function tryAgain(node: Node, slice: Slice, who: { readonly actor: Actor; readonly by: Principal }): void {
  const { keptError, locks } = job(node)
  const retry = nextAttempt(node, slice)
  if (!retry || !keptError) return
  journal(node, slice, 'RETRY')
  const { code, message } = keptError
  const reason = `retry: attempt ${retry.attempts.length} of ${retry.policy.attempts} ended ${code}`
  slice.move(node, 'PENDING', { ...who, reason, message })
  slice.setError(node, objectFailure(slice, keptError.code, keptError.message))
  if (node.hasProgress) slice.setProgress(node, null)
  slice.setDetails(node, { retry, undoAfter: null, keptError: null, locks: null })
  park(node, new Date(retry.nextAt), slice)
  if (locks) slice.effect('releaseLocks', node.row.id)
  slice.touch(node)
}

function endRetries(node: Node, slice: Slice): void {
  const { retry } = job(node)
  if (retry) slice.setDetails(node, { retry: { ...retry, isFinal: true } })
}

const setDone = (node: Node, slice: Slice): void =>
  slice.setWork(node, { state: WORK_STATE.DONE, doneAt: slice.now, leaseUntil: null, leaseWatched: false })

const errorOf = ({ error, message }: Report, to: Phase) =>
  error ? { code: error.code, message: error.message } : { code: to, message: message ?? 'Its gadget gave no reason.' }

const exportsOf = (exports: unknown) =>
  typeof exports === 'object' && exports !== null && !Array.isArray(exports) ? exports : {}

/** Names as in the gadget protocol; an index cannot hold longer ones. */
const LOCK_LIMITS = { count: 1_000, characters: 256 } as const
const areLocks = (locks: readonly DeclaredLock[]): boolean =>
  locks.length <= LOCK_LIMITS.count &&
  locks.every(({ resource }) => resource.length > 0 && resource.length <= LOCK_LIMITS.characters)
const WRONG_LOCKS = {
  code: 'GADGET_PROTOCOL',
  message: `It declared more than ${LOCK_LIMITS.count} locks, or one without a name or of more than ${LOCK_LIMITS.characters} characters.`,
}
