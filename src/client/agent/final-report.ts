import { describeJsonProblem, jsonProblem } from '../../core/json-problem.ts'
import { jsonBounds, LIMITS } from '../../core/limits.ts'
import type { Phase, WorkAction } from '../../core/vocabulary.ts'
import { asError } from '../as-error.ts'
import { nameOf } from './judge-work.ts'
import type { ReportedError, StopReason, WorkItem, WorkOutcome } from './work.ts'

type Final = NonNullable<WorkOutcome>

/** Phases of an outcome when the work was a deletion. */
const WHEN_DELETING: Readonly<Partial<Record<Phase, Phase>>> = {
  SUCCEEDED: 'GONE',
  FAILED: 'DELETE_FAILED',
  ABORTED: 'DELETE_FAILED',
  PROGRESSING: 'DELETING',
}
/** Phases of work that its agent could not do, where it is not FAILED. Null: the work is offered again when its lease ends. */
const WHEN_FAILED: Readonly<Partial<Record<WorkAction, Phase | null>>> = {
  DELETE: 'DELETE_FAILED',
  RUN: 'UNDOING',
  UNDO: 'UNDO_FAILED',
  ABORT: 'UNDO_FAILED',
  STOP: null,
  REMOVE: null,
  DRY_RUN: null,
}

/** The report of an outcome; null for none. */
export function finalReport(item: WorkItem, outcome: WorkOutcome, stopped: StopReason | null): Final | null {
  if (outcome === null || !('phase' in outcome)) return outcome
  if (stopped === 'SHUTDOWN' && outcome.phase === 'ABORTED') return giveBack(item)
  const problem = exportsProblem(outcome.exports)
  if (problem) return failureOf(item, { code: 'EXPORTS', message: `${problem}.` })
  if (item.action !== 'DELETE') return outcome
  const phase = WHEN_DELETING[outcome.phase] ?? outcome.phase
  const error = outcome.phase === 'ABORTED' ? { code: 'ABORTED', message: 'Stopped on request.' } : undefined
  return { ...(error ? { error } : {}), ...outcome, phase }
}

function exportsProblem(exports: unknown): string | null {
  if (exports === undefined || exports === null) return null
  if (typeof exports !== 'object' || Array.isArray(exports)) return `exports must be an object, not ${nameOf(exports)}`
  const problem = jsonProblem(exports, jsonBounds(LIMITS.json))
  return problem && describeJsonProblem('exports', problem)
}

/** Gives work back that only the agent's own shutdown has stopped: another agent continues it. */
function giveBack({ action }: WorkItem): Final | null {
  const error = { code: 'AGENT_STOPPED', message: 'Its agent was shut down.', retryable: true }
  if (action === 'RECONCILE') return { phase: 'PROGRESSING', error }
  if (action === 'DELETE') return { phase: 'DELETING', error }
  return null
}

/** The report of work that failed by its agent's fault; null for none. */
export function failureOf({ action }: WorkItem, error: ReportedError): Extract<Final, { phase: Phase }> | null {
  const phase = WHEN_FAILED[action] === undefined ? 'FAILED' : WHEN_FAILED[action]
  return phase && { phase, error }
}

/** The outcome of work that threw: a bug of the agent, or an abort that it passed on. */
export function outcomeOfThrown(item: WorkItem, thrown: unknown, stopped: StopReason | null): WorkOutcome {
  if (item.action === 'DRY_RUN') return stopped ? null : { dryRun: { error: agentError(thrown) } }
  return stopped ? { phase: 'ABORTED' } : failureOf(item, agentError(thrown))
}

/** The agent did not do its work as it should. */
export const AGENT_ERROR = 'AGENT_ERROR'

function agentError(thrown: unknown): ReportedError {
  const { name, message } = asError(thrown)
  return { code: AGENT_ERROR, message: `${name}: ${message}` }
}
