import type { RefusalOf } from '../errors.ts'
import type { TargetSelector } from '../target.ts'
import type { ObjectKind, Phase, WorkAction } from '../vocabulary.ts'
import type { Outcome } from './outcome.ts'
import type { Viewer } from './viewer.ts'

/** The engine as agents use it. Types only. */

export interface ClaimedItem {
  readonly fence: string
  readonly objectId: string
  /** Null: the object is gone. */
  readonly projectId: string | null
  readonly kind: ObjectKind
  readonly name: string
  readonly jobId: string | null
  readonly action: WorkAction
  /** For DRY_RUN: the action that is only to be foreseen. */
  readonly dryRunOf?: WorkAction
  readonly type: string
  readonly target: string | null
  readonly config: unknown
  readonly attempt: number
  readonly leaseUntil: Date
  /** Its trace context; null: no sampled trace. */
  readonly traceparent: string | null
}

/** Families may add what only their agents report. */
export interface Report {
  readonly fence: string
  readonly phase?: Phase | null | undefined
  readonly done?: boolean | undefined
  readonly message?: string | null | undefined
  /** The agent's place in a trace. Not judged yet. */
  readonly traceparent?: string | null | undefined
  readonly progress?: ReportedProgress | null | undefined
  readonly exports?: unknown
  /** `retryable`: true gives the work back, false is final, null leaves it to the retry policy. */
  readonly error?:
    | { readonly code: string; readonly message: string; readonly retryable?: boolean | null | undefined }
    | null
    | undefined
}

export interface ReportedProgress {
  readonly step?: string | null | undefined
  readonly value?: number | null | undefined
  readonly total?: number | null | undefined
  readonly unit?: string | null | undefined
}

export interface Renewal {
  readonly fence: string
  readonly state: 'HELD' | 'ABORT_REQUESTED' | 'LOST'
  readonly leaseUntil: Date | null
}

export interface LogLineEntry {
  readonly fence: string
  readonly at?: Date | null | undefined
  readonly stream: 'STDOUT' | 'STDERR' | 'STEP' | 'SYSTEM'
  readonly text: string
}

export type ReportOutcome = Outcome<
  { objectId: string | null; changed: boolean },
  RefusalOf<'TransitionError' | 'StaleReportError' | 'NotFoundError' | 'InvalidInputError' | 'ForbiddenError'>
>

/** The targets of an agent. Without a selector, null: all that its token allows. */
export interface ClaimedTargets {
  readonly targets: readonly string[] | null
  readonly targetSelector?: TargetSelector | null | undefined
}

/** The engine as agents use it. The viewer's token identifies the agent. */
export interface AgentPort {
  claim(
    viewer: Viewer,
    request: {
      instance: string
      types: readonly string[]
      targets: ClaimedTargets['targets']
      targetSelector?: ClaimedTargets['targetSelector']
      /** The agent does dry runs as well. */
      dryRuns?: boolean | undefined
      max: number
      leaseMs: number
      /** Maximum wait when no work is ready. */
      waitMs?: number | undefined
      /** Aborts when the caller is gone. */
      signal?: AbortSignal | undefined
    },
  ): Promise<
    Outcome<{ items: readonly ClaimedItem[]; waitedMs: number }, RefusalOf<'InvalidInputError' | 'ForbiddenError'>>
  >
  /** Number of claims of this process that wait. */
  readonly waitingClaims: number
  /** Answers all waiting claims, because this process ends. */
  stopWaiting(): void
  renew(
    viewer: Viewer,
    fences: readonly string[],
    leaseMs: number,
  ): Promise<Outcome<{ leases: readonly Renewal[] }, RefusalOf<'ForbiddenError'>>>
  /** One result per report, in order. */
  report(
    viewer: Viewer,
    reports: readonly Report[],
  ): Promise<Outcome<{ results: readonly ReportOutcome[] }, RefusalOf<'ForbiddenError'>>>
  /** @param sentAt by the clock that dated the lines */
  appendLogs(
    viewer: Viewer,
    lines: readonly LogLineEntry[],
    sentAt?: Date | null,
  ): Promise<Outcome<{ accepted: number }, RefusalOf<'StaleReportError' | 'ForbiddenError'>>>
  /** Number of items per type that the agent could claim, without types that have none. */
  waiting(
    viewer: Viewer,
    types: readonly string[],
    targets: ClaimedTargets['targets'],
    targetSelector?: ClaimedTargets['targetSelector'],
  ): Promise<readonly { type: string; waiting: number }[]>
  /** Calls back whenever work of a type may have become claimable. Returns a function that stops it. */
  onWork(handler: (types: readonly string[]) => void): () => void
}
