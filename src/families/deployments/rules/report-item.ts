import { backoffMs } from '../../../core/backoff.ts'
import { objectFailure } from '../../../core/errors.ts'
import type { Report } from '../../../core/ports/agents.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { finalityOf } from '../../../core/retry.ts'
import { type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { ReportVerdict } from '../../family.ts'
import { noteProgress } from '../../note-progress.ts'
import { ATTEMPT_TIMEOUT, endAttempt, isBetweenAttempts, PROGRESSING_TIMEOUT, tryAgain } from './attempts.ts'
import { deployItem } from './details.ts'
import { finish, vanish } from './finish.ts'
import { withLastProblem } from './last-problem.ts'

const ACCEPTED: ReportVerdict = { ok: true, changed: true }
const UNCHANGED: ReportVerdict = { ok: true, changed: false }

/** Applies a deployer's report with a valid fence, if the guard allows it. A repeated report changes nothing. */
export function reportItem(item: Node, report: Report, by: Principal, slice: Slice): ReportVerdict {
  const { work } = item
  if (isBetweenAttempts(item)) return reportOfEnded(report)
  if (!report.phase) {
    noteProgress(item, report, slice)
    return UNCHANGED
  }
  const to = recordedAs(report.phase, item)
  const verdict = slice.judge(item, 'DEPLOYER', to)
  if (!verdict.ok) return { ok: false, refused: 'TRANSITION', to: report.phase }
  const { progress, message } = report
  noteProgress(item, { progress, message: verdict.changed ? null : message }, slice)
  if (!verdict.changed) {
    if (work?.state === WORK_STATE.CLAIMED && report.error?.retryable) giveBack(item, report, by, slice)
    return UNCHANGED
  }
  if (isRunning(to)) {
    slice.move(item, to, { actor: 'DEPLOYER', by, message: report.message ?? null })
    if (report.error?.retryable) giveBack(item, report, by, slice)
    return ACCEPTED
  }
  const error = errorOf(report, to, item, slice)
  const failure = error && { ...error, ...finalityOf(report.error) }
  if (to === 'FAILED' && failure && mayRetry(item) && tryAgain(item, failure, { answered: true }, slice))
    return ACCEPTED
  endAttempt(item, failure, slice)
  const ending = { actor: 'DEPLOYER', by, message: report.message ?? null, error } as const
  if (to === 'SUCCEEDED') storeExports(item, report.exports, slice)
  if (to === 'GONE') vanish(item, slice, { ...ending, triggered: true })
  else finish(item, slice, { ...ending, to })
  return ACCEPTED
}

/** The fence is that of an attempt whose failure is known. */
const reportOfEnded = ({ phase }: Report): ReportVerdict =>
  phase === 'SUCCEEDED' ? { ok: false, refused: 'TRANSITION', to: phase } : UNCHANGED

/** The end of the job's time is no attempt's failure. */
const mayRetry = ({ work }: Node): boolean => work?.abortCode === null || work?.abortCode === ATTEMPT_TIMEOUT

const isRunning = (phase: Phase): boolean => phase === 'PROGRESSING' || phase === 'DELETING'

/** After the timeout of the job or of an attempt, ABORTED is recorded as the failure of the timeout. */
function recordedAs(phase: Phase, { work }: Node): Phase {
  return phase === 'ABORTED' && isTimeout(work?.abortCode) ? 'FAILED' : phase
}

const isTimeout = (code: string | null | undefined): boolean => code === PROGRESSING_TIMEOUT || code === ATTEMPT_TIMEOUT

function errorOf(report: Report, to: Phase, { work, error: last }: Node, slice: Slice) {
  if (to === 'SUCCEEDED' || to === 'GONE') return null
  if (isTimeout(work?.abortCode)) {
    const step = report.progress?.step
    const message = step
      ? `It did not finish in time and was stopped at: ${step}`
      : withLastProblem('It did not finish in time and was stopped.', last?.message)
    return objectFailure(slice, work?.abortCode ?? '', message)
  }
  const { error } = report
  if (error) return objectFailure(slice, error.code, error.message)
  if (to === 'ABORTED') return objectFailure(slice, 'ABORTED', report.message ?? 'Stopped on request.')
  return objectFailure(slice, 'FAILED', report.message ?? 'Its deployer gave no reason.')
}

function storeExports(item: Node, exports: unknown, slice: Slice): void {
  const value = typeof exports === 'object' && exports !== null && !Array.isArray(exports) ? exports : null
  if (value || deployItem(item).exports) slice.setDetails(item, { exports: value })
}

/** Offers the item again after a backoff, within the same progressing timeout, unless it has been asked to stop. */
function giveBack(item: Node, report: Report, by: Principal, slice: Slice): void {
  const { work } = item
  if (!work) return
  if (work.abortRequestedAt) {
    const stopped = recordedAs('ABORTED', item)
    const to = item.row.deletionRequestedAt ? 'DELETE_FAILED' : stopped
    const error = errorOf(report, to, item, slice)
    if (to === 'FAILED' && error && mayRetry(item) && tryAgain(item, error, { answered: true }, slice)) return
    endAttempt(item, error, slice)
    return finish(item, slice, { to, actor: 'DEPLOYER', by, error })
  }
  const error = objectFailure(slice, report.error?.code ?? 'FAILED', report.error?.message ?? '')
  const claims = work.attempt - (deployItem(item).retry?.claims ?? 0)
  const offerAfter = new Date(slice.now.getTime() + backoffMs(claims, slice.random()))
  slice.setWork(item, { state: WORK_STATE.OFFERED, offerAfter, leaseUntil: null })
  slice.setError(item, error)
}
