import type { Problems } from '../../../core/problems.ts'
import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import type { Phase, ReconcileMode } from '../../../core/vocabulary.ts'
import type { Editor } from '../../on-behalf.ts'
import { nextDue } from '../../when.ts'
import { type AutomaticState, installation } from './details.ts'
import type { RunCause } from './origin.ts'
import type { AutomaticReconcile, ReconcileTimes } from './spec.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    mayReconcile: {
      readonly args: { readonly projectId: string; readonly editor: Editor }
      readonly answer: ReconcileVerdict
    }
  }
}

/**
 * Jobs that a root begins by itself: some time after one that has succeeded, and after one that has failed at once, then at
 * times of their own, up to a number. An edit or a job that somebody asks for begins to count anew.
 */

const MS = { min: 1_000, max: 2 ** 31 - 1 } as const
const MAX_ATTEMPTS = 1_000_000

interface TimesInput {
  readonly intervalMs?: number | null
  readonly cron?: readonly string[] | null
  readonly timeZone?: string | null
}
export interface AutomaticReconcileInput {
  readonly afterSuccess?: TimesInput | null
  readonly afterFailure?: (TimesInput & { readonly attempts?: number | null }) | null
}

/** Lines of cron are judged later, since that takes the time. */
export function normaliseAutomatic(
  { afterSuccess, afterFailure }: AutomaticReconcileInput,
  path: string,
  problems: Problems,
): AutomaticReconcile {
  if (!afterSuccess && !afterFailure) problems.add(path, 'must have afterSuccess, afterFailure or both')
  const attempts = afterFailure?.attempts ?? null
  if (attempts !== null && !(attempts >= 1 && attempts <= MAX_ATTEMPTS))
    problems.add(`${path}.afterFailure.attempts`, `must be from 1 to ${MAX_ATTEMPTS}`)
  return {
    afterSuccess: afterSuccess ? normaliseTimes(afterSuccess, `${path}.afterSuccess`, problems) : null,
    afterFailure: afterFailure ? { ...normaliseTimes(afterFailure, `${path}.afterFailure`, problems), attempts } : null,
  }
}

function normaliseTimes({ intervalMs, cron, timeZone }: TimesInput, path: string, problems: Problems): ReconcileTimes {
  const hasInterval = typeof intervalMs === 'number'
  if (hasInterval === (cron ?? []).length > 0) problems.add(path, 'must have one of intervalMs and cron')
  if (hasInterval && !(intervalMs >= MS.min && intervalMs <= MS.max))
    problems.add(`${path}.intervalMs`, `must be from ${MS.min} to ${MS.max}`)
  return { intervalMs: intervalMs ?? null, cron: cron ?? [], timeZone: timeZone ?? 'UTC' }
}

const NEVER = { every: null, at: null, start: null, until: null } as const
const timeAfter = ({ intervalMs, cron, timeZone }: ReconcileTimes, after: Date): Date | null =>
  intervalMs === null ? nextDue({ ...NEVER, cron, timeZone }, after) : new Date(after.getTime() + intervalMs)

/** The state for a spec that is written; null: it begins no job by itself. An edit counts anew once its job has ended. */
export function automaticOf(
  policy: AutomaticReconcile | undefined,
  editor: Editor,
  { present, isEdited }: { readonly present: AutomaticState | null; readonly isEdited: boolean },
): AutomaticState | null {
  if (!policy) return null
  return isEdited || !present ? { policy, editor, due: null, retries: 0 } : { ...present, editor }
}

/** The end of a job sets the next time. A job whose spec was edited meanwhile, and a cancelled one, are followed by none. */
export function planNext(root: Node, slice: Slice, phase: Phase): void {
  const state = installation(root).automaticReconcile
  if (!state) return
  const { policy, retries, editor } = state
  const { afterSuccess, afterFailure } = policy
  const isApplied = root.row.generation === root.row.observedGeneration
  const set = (due: Date | null, count: number) =>
    slice.setDetails(root, {
      automaticReconcile: { policy, editor, due: due?.toISOString() ?? null, retries: count } satisfies AutomaticState,
    })
  if (phase === 'SUCCEEDED') return set(isApplied && afterSuccess ? timeAfter(afterSuccess, slice.now) : null, 0)
  const isLeft = afterFailure !== null && (afterFailure.attempts === null || retries < afterFailure.attempts)
  if (phase !== 'FAILED' || !isLeft || !isApplied) return set(null, retries)
  set(retries === 0 ? slice.now : timeAfter(afterFailure, slice.now), retries)
}

/** The state once a job has begun. One that may be kept leaves the time, since only its end says whether it was. */
export function automaticBegun(
  root: Node,
  cause: RunCause,
  mode: ReconcileMode,
): { readonly automaticReconcile?: AutomaticState } {
  const state = installation(root).automaticReconcile
  if (!state || (mode === 'IF_CHANGED' && root.row.phase === 'SUCCEEDED')) return {}
  const { policy, editor, retries } = state
  return { automaticReconcile: { policy, editor, due: null, retries: retriesBegun(cause, root.row.phase, retries) } }
}
function retriesBegun(cause: RunCause, phase: Phase, retries: number): number {
  if (cause === 'IMPORTS_CHANGED') return retries
  return cause === 'AUTOMATIC' && phase === 'FAILED' ? retries + 1 : 0
}

/** The answer to whether a root may begin a job by itself now. */
export interface ReconcileVerdict {
  readonly isHeld: boolean
  /** Null: its editor has the right. */
  readonly missing: string | null
}

/** A finished root without a request: begins a job if its time has come, and passes the time over if it may not. */
export function beginByItself(root: Node, slice: Slice): void {
  const { automaticReconcile: state, ignored } = installation(root)
  const due = state?.due && !ignored && !slice.isPaused ? new Date(state.due) : null
  if (!state || !due || due > slice.now) return slice.setClock(root, due)
  const { projectId } = root.row
  const verdict = slice.ask('mayReconcile', { projectId, editor: state.editor })
  if (!verdict) return
  const { isHeld, missing } = verdict
  if (isHeld || missing) return passOver(root, slice, state, missing ?? 'Automation is held.')
  const origin = { by: null, cause: 'AUTOMATIC', at: slice.now.toISOString() } as const
  slice.recordRequest(root, {
    by: null,
    reason: 'reconcile requested',
    message: `Begins by itself: ${whyDue(root, state)}.`,
  })
  slice.setDetails(root, { nextMode: 'STANDARD', nextOrigin: origin })
  slice.touch(root)
}

function passOver(root: Node, slice: Slice, state: AutomaticState, problem: string): void {
  const { policy } = state
  const times = root.row.phase === 'SUCCEEDED' ? policy.afterSuccess : policy.afterFailure
  const due = times && timeAfter(times, slice.now)
  const next: AutomaticState = { ...state, due: due?.toISOString() ?? null, problem }
  slice.recordRequest(root, { by: null, reason: 'reconcile passed over', message: problem })
  slice.setDetails(root, { automaticReconcile: next })
  slice.setClock(root, due)
}

const whyDue = (root: Node, state: AutomaticState): string =>
  root.row.phase === 'SUCCEEDED' ? 'its time after a success has come' : `${retryText(state)} after a failure`

/** `2 of 3`: the next job after a failure. */
export const retryText = ({ policy, retries }: Pick<AutomaticState, 'policy' | 'retries'>): string => {
  const most = policy.afterFailure?.attempts ?? null
  return most === null ? `job ${retries + 1}` : `job ${retries + 1} of ${most}`
}

/** The state as users see it: the next time, and its number after a failure. */
export interface ShownAutomatic {
  readonly nextAt: Date | null
  readonly retry: number | null
  readonly maxRetries: number | null
  readonly editor: string
  readonly problem: string | null
}
export function shownAutomatic(
  state: AutomaticState,
  { phase, ...row }: Pick<Node['row'], 'phase' | 'jobId' | 'finishedJobId'>,
  ignored: boolean,
): ShownAutomatic {
  const isRunning = !isFinished(row)
  const { due, retries, policy, editor, problem = null } = state
  const nextAt = due === null || ignored || isRunning ? null : new Date(due)
  const next = nextAt && phase === 'FAILED' ? retries + 1 : null
  return {
    nextAt,
    retry: next ?? (isRunning && retries > 0 ? retries : null),
    maxRetries: policy.afterFailure?.attempts ?? null,
    editor: editor.name,
    problem,
  }
}
