import {
  type AgentBlocker,
  agentBlocker,
  type BackoffBlocker,
  backoffBlocker,
  type HeldUpTicket,
  type LimitBlocker,
  limitBlockers,
  type ObjectBlocker,
  type WithSource,
} from '../../../core/blocker.ts'
import type { OfferedWork } from '../../../core/claimant.ts'
import type { Labels } from '../../../core/place.ts'
import { WORK_STATE, type WorkState } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { describeGate, type Gate, type GateBlocker, gateBlocker } from '../../gate.ts'
import { type CandidatePlace, placementProblem, type Unplaced } from '../placement/rules/placement-problem.ts'
import type { Pool, WorkloadRetry } from './details.ts'

/** Blockers of workers and jobs. */

export interface Waiting {
  readonly pool: Pool
  readonly phase: Phase
  readonly project: string
  readonly projectId: string
  /** Null: no limit but the slots. */
  readonly projectLimit: number | null
  /** Number of waiters of its project before it. */
  readonly ahead: number
  readonly targetLabels: Labels | null
  /** Type, target, instance and state of its work; null before it is started. */
  readonly type: string | null
  readonly target: string | null
  readonly instance: string | null
  readonly workState: WorkState | null
  /** With a retry policy: its attempts, and when the next one begins. */
  readonly retry: WorkloadRetry | null
  /** Why the last attempt failed. */
  readonly problem: string | null
  /** Its tickets of limits; empty: it asks for none, or holds them. */
  readonly tickets: readonly HeldUpTicket[]
  readonly id: string
  /** The gate at which it waits; null: none. */
  readonly gate: Gate | null
}
export interface GateBelow {
  /** The event. */
  readonly key: string
  readonly id: string
  readonly gate: Gate
}
export interface BlockerInputs {
  readonly now: Date
  /** Jobs that wait at gates, by their event. */
  readonly gatesBelow: ReadonlyMap<string, readonly GateBelow[]>
  readonly waiting: ReadonlyMap<string, Waiting>
  /** Occupied slots by pool and project. */
  readonly held: readonly { readonly pool: Pool; readonly project: string; readonly held: number }[]
  readonly limits: Readonly<Record<Pool, number>>
  readonly places: readonly CandidatePlace[]
  /** True if a connected runtime takes it. */
  isServed(work: OfferedWork): boolean
  /** True if a runtime without a registered place takes it. */
  isServedUnregistered(work: OfferedWork): boolean
}

export type PipelinesBlocker =
  | {
      readonly reason: 'CAPACITY'
      readonly message: string
      readonly pool: Pool
      /** The project whose limit it is; null: the limit of all projects together. */
      readonly project: string | null
      readonly limit: number
      readonly held: number
      /** From 1, among the waiters of its project. */
      readonly position: number
    }
  | AgentBlocker
  | BackoffBlocker
  | LimitBlocker
  | GateBlocker
  | ObjectBlocker<'DECISION'>
  | ({ readonly reason: 'PLACE'; readonly type: string } & Unplaced)

/** An event has the blockers of its worker, and the gates of its jobs. */
export const blockersOf = (id: string, details: BlockerInputs): readonly WithSource<PipelinesBlocker>[] => [
  ...ownBlockers(id, details),
  ...(details.gatesBelow.get(id) ?? []).map((job) => ({ ...atGate(job, job.gate), sourceId: job.id })),
]

function ownBlockers(id: string, details: BlockerInputs): readonly PipelinesBlocker[] {
  const waiting = details.waiting.get(id)
  if (!waiting) return []
  if (waiting.phase !== 'PENDING') return agent(waiting, details)
  if (waiting.gate) return [atGate(waiting, waiting.gate)]
  if (waiting.retry?.nextAt) return betweenAttempts(waiting, details)
  const limits = limitBlockers(waiting.tickets, details.now)
  return limits.length > 0 ? limits : [capacity(waiting, details)]
}

const atGate = ({ id }: Pick<Waiting, 'id'>, gate: Gate): PipelinesBlocker =>
  gate.approval ? { reason: 'DECISION', objectId: id, message: describeGate(gate) } : gateBlocker(gate)

/** The removal of the last attempt, and the time of the next one. */
function betweenAttempts(waiting: Waiting, details: BlockerInputs): readonly PipelinesBlocker[] {
  const { retry, problem, type, target, projectId } = waiting
  if (!retry?.nextAt) return []
  const until = new Date(retry.nextAt)
  if (until > details.now) return [backoffBlocker(until, retry, problem)]
  if (type === null) return []
  const connected = details.isServed({ type, target, projectId })
  return [agentBlocker(type, connected, `Its runtime ${target} has to remove what the last attempt has left.`)]
}

const NOUNS: Readonly<Record<Pool, string>> = { WORKER: 'workers', JOB: 'jobs' }

function capacity({ pool, project, projectLimit, ahead }: Waiting, { held, limits }: BlockerInputs): PipelinesBlocker {
  const ofPool = held.filter((row) => row.pool === pool)
  const own = ofPool.find((row) => row.project === project)?.held ?? 0
  const position = ahead + 1
  const before = ahead === 0 ? 'It is the next one of its project.' : `${ahead} of its project come before it.`
  if (projectLimit !== null && own >= projectLimit) {
    const message = `${own} of ${projectLimit} ${NOUNS[pool]} of project ${project} run. ${before}`
    return { reason: 'CAPACITY', message, pool, project, limit: projectLimit, held: own, position }
  }
  const all = ofPool.reduce((sum, row) => sum + row.held, 0)
  const message = `${all} of ${limits[pool]} ${NOUNS[pool]} of all projects run. ${before}`
  return { reason: 'CAPACITY', message, pool, project: null, limit: limits[pool], held: all, position }
}

function agent(
  { pool, phase, projectId, type, target, targetLabels, instance, workState }: Waiting,
  details: BlockerInputs,
): readonly PipelinesBlocker[] {
  if (type === null) return []
  const work = { type, target, projectId }
  const connected = details.isServed(work)
  if (phase === 'UNKNOWN') {
    const message = `Its runtime ${instance} has to come back and say how it is.`
    return [agentBlocker(type, connected, message)]
  }
  if (workState !== WORK_STATE.OFFERED) return []
  const unplaced = placementProblem({ pool, ...work, targetLabels }, details.places)
  const isServed = target === null && targetLabels === null && details.isServedUnregistered(work)
  if (unplaced && !isServed) return [{ reason: 'PLACE', type, ...unplaced }]
  const where = target === null ? '' : ` at ${target}`
  const message = connected
    ? `A runtime of type ${type}${where} has to take it.`
    : `No runtime of type ${type}${where} was heard of within the last minute.`
  return [agentBlocker(type, connected, message)]
}
