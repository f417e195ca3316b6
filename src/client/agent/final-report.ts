import { jsonProblem } from '../../core/json-problem.ts'
import { jsonBounds, LIMITS } from '../../core/limits.ts'
import type { Phase } from '../../core/vocabulary.ts'
import type { StopReason, WorkItem, WorkOutcome } from './work.ts'

type Final = NonNullable<WorkOutcome>

/** Phases of an outcome when the work was a deletion. */
const WHEN_DELETING: Readonly<Partial<Record<Phase, Phase>>> = {
  SUCCEEDED: 'GONE',
  FAILED: 'DELETE_FAILED',
  ABORTED: 'DELETE_FAILED',
  PROGRESSING: 'DELETING',
}

/** The report of an outcome; null for none. */
export function finalReport(item: WorkItem, outcome: WorkOutcome, stopped: StopReason | null): Final | null {
  if (outcome === null || !('phase' in outcome)) return outcome
  if (stopped === 'SHUTDOWN' && outcome.phase === 'ABORTED') return giveBack(item)
  const excess = jsonProblem(outcome.exports, jsonBounds(LIMITS.json))
  if (excess)
    return {
      phase: item.action === 'RUN' ? 'UNDOING' : 'FAILED',
      error: { code: 'EXPORTS', message: `Its exports are ${excess}.` },
    }
  if (item.action !== 'DELETE') return outcome
  const phase = WHEN_DELETING[outcome.phase] ?? outcome.phase
  const error = outcome.phase === 'ABORTED' ? { code: 'ABORTED', message: 'Stopped on request.' } : undefined
  return { ...(error ? { error } : {}), ...outcome, phase }
}

/** Gives work back that only the agent's own shutdown has stopped: another agent continues it. */
function giveBack({ action }: WorkItem): Final | null {
  const error = { code: 'AGENT_STOPPED', message: 'Its agent was shut down.', retryable: true }
  if (action === 'RECONCILE') return { phase: 'PROGRESSING', error }
  if (action === 'DELETE') return { phase: 'DELETING', error }
  return null
}

/** The outcome of work that threw: a bug of the agent, or an abort that it passed on. */
export function outcomeOfThrown(thrown: unknown, stopped: StopReason | null): Final {
  if (stopped) return { phase: 'ABORTED' }
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : 'The agent failed.'
  return { phase: 'FAILED', error: { code: 'AGENT_ERROR', message } }
}
