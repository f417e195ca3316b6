import type { LimitRequest } from '../../../core/limit-request.ts'
import type { Labels } from '../../../core/place.ts'
import type { Retry } from '../../../core/retry.ts'
import type { Node } from '../../../core/tree.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import type { StartGate } from '../../start-gate.ts'
import { worker as machine } from '../machines.ts'

/** The family's own columns. */

export interface EventDetails {
  readonly source: string
  readonly type: string
  readonly qualifiers: Readonly<Record<string, string>>
  readonly payload: string | null
  /** The event matched a subscription, instead of naming its project. */
  readonly subscribed: boolean
  readonly retryOf: string | null
  readonly cloneOf: string | null
  /** How many times a chain of notifications and hooks has come back here before. */
  readonly hops: number
}

/** Workers and jobs have separate slots, so that workers that wait for their jobs cannot starve them. */
export const POOLS = ['WORKER', 'JOB'] as const satisfies readonly ObjectKind[]
export type Pool = (typeof POOLS)[number]
/**
 * State of a slot. Phase and work are authoritative; this column only finds candidates by index. HELD: it runs, or somebody else than
 * its runtime has ended it and its process may still run. BACKOFF: it waits for its next attempt, or at its gate.
 */
export const SLOT = { WAITING: 0, HELD: 1, OVER: 2, BACKOFF: 3 } as const

/** Kept beside the job, since a report reads no spec. */
export interface WorkloadRetry extends Retry {
  /** The next attempt begins at this time or later, as ISO 8601; null: none waits for its time. */
  readonly nextAt: string | null
}

export interface WorkloadDetails {
  readonly projectId: string
  readonly pool: Pool
  readonly state: (typeof SLOT)[keyof typeof SLOT]
  readonly runtime: string
  readonly usesWorkspace: boolean
  /** From its pickup; null: no timeout. */
  readonly timeoutMs: number | null
  /** The job of an earlier event that it was inherited from. */
  readonly inheritedFrom: string | null
  readonly startedAt: Date | null
  readonly endedAt: Date | null
  readonly exitCode: number | null
  readonly signal: string | null
  /** The commit that its runtime has cloned for it. */
  readonly commit: string | null
  /** When its resources are removed; null: it has none, or they are kept until it ends. */
  readonly removeAt: Date | null
  readonly removedAt: Date | null
  /** Labels that its place must have; null: any place. */
  readonly targetLabels: Labels | null
  /** The registered place that has started it. */
  readonly placeId: string | null
  /** The retry policy of a job, and its attempts that have ended; null: it has none. */
  readonly retry: WorkloadRetry | null
  /** Attempts of its worker that had ended when this job was created; 0 for a worker. */
  readonly workerAttempt: number
  /** Null: it asks for no limit. */
  readonly limits: WorkloadLimits | null
  /** Null: it has none. */
  readonly gate: StartGate | null
}
export interface WorkloadLimits {
  readonly requests: readonly LimitRequest[]
  /** From its first turn on. False: their keys are templates. */
  readonly isResolved: boolean
}

export const NEW_EVENT: EventDetails = {
  source: '',
  type: '',
  qualifiers: {},
  payload: null,
  subscribed: false,
  retryOf: null,
  cloneOf: null,
  hops: 0,
}
export const NEW_WORKLOAD: WorkloadDetails = {
  projectId: '',
  pool: 'JOB',
  state: SLOT.WAITING,
  runtime: '',
  usesWorkspace: false,
  timeoutMs: null,
  inheritedFrom: null,
  startedAt: null,
  endedAt: null,
  exitCode: null,
  signal: null,
  commit: null,
  removeAt: null,
  removedAt: null,
  targetLabels: null,
  placeId: null,
  retry: null,
  workerAttempt: 0,
  limits: null,
  gate: null,
}

export const workload = (node: Node): WorkloadDetails => node.details as WorkloadDetails

/** True for a final phase. */
export const isOver = (phase: Phase): boolean => machine.final.includes(phase)
