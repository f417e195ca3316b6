import type { PlannedChange } from '../../core/dry-run.ts'
import type { ObjectKind, Phase, WorkAction } from '../../core/vocabulary.ts'

/** One claimed item of work. Its config holds secrets: never log it. */
export interface WorkItem {
  /** Opaque: names job, object, operation and attempt. */
  readonly fence: string
  readonly objectId: string
  /** The project of the object, for what its objects share at a place; null or absent: the object is gone. */
  readonly projectId?: string | null
  readonly kind: ObjectKind
  readonly name: string
  readonly jobId: string | null
  readonly action: WorkAction
  /** For DRY_RUN: the action that is only to be foreseen, RECONCILE or DELETE. */
  readonly dryRunOf?: WorkAction | null
  readonly type: string
  readonly target: string | null
  /**
   * The target's credentials, for an agent that asks for them; null: the project has no such target. Absent: not asked for. Never log
   * or store them.
   */
  readonly targetCredentials?: TargetCredentials | null
  /** With all expressions resolved. */
  readonly config: unknown
  /** From 1; grows with each claim within one job. */
  readonly attempt: number
  /** For START of a worker: the token to create jobs of its own event with. */
  readonly token: string | null
  /** Its trace context, as the header `traceparent` has it; null or absent: it belongs to no sampled trace. */
  readonly traceparent?: string | null
}

export interface TargetCredentials {
  readonly targetId: string
  readonly targetType: string
  /** Counts the changes of the target. */
  readonly generation: number
  /** Null: the target has none, or the server cannot open them. */
  readonly secret: string | null
}

export interface ReportedError {
  readonly code: string
  readonly message: string
  /**
   * With PROGRESSING or DELETING, true gives the work back, to be offered again after a backoff. With FAILED, false says that another
   * attempt would end in the same way. Left out or null: the retry policy of the object decides.
   */
  readonly retryable?: boolean | null
}
export interface ReportedProgress {
  readonly step?: string | null
  readonly value?: number | null
  readonly total?: number | null
  readonly unit?: string | null
}
/** A report during the work. Newer progress replaces progress not sent yet; the last one is sent with the final report. */
export interface InterimReport {
  /** E.g. RUNNING. Deployers need none, since the claim itself is the pickup. */
  readonly phase?: Phase
  readonly message?: string
  readonly progress?: ReportedProgress
  /** A result that is there before the end, such as the commit that a workload was cloned at. */
  readonly exports?: unknown
  readonly error?: ReportedError
}
/**
 * The result of the work. DELETE ends in GONE or DELETE_FAILED; STOP and REMOVE end with `done`.
 * PROGRESSING or DELETING with a retryable error gives the work back. Null reports nothing: the lease expires.
 */
export type WorkOutcome =
  | {
      readonly phase: Phase
      readonly message?: string
      readonly progress?: ReportedProgress
      readonly exports?: unknown
      readonly error?: ReportedError
      readonly locks?: readonly { readonly resource: string; readonly mode: 'SHARED' | 'EXCLUSIVE' }[]
    }
  | { readonly done: true; readonly message?: string }
  | { readonly dryRun: DryRunOutcome }
  | null

/** The result of a dry run: the objects that would change, why nothing can be said, or why the real run would fail. */
export type DryRunOutcome =
  | { readonly changes: readonly PlannedChange[]; readonly truncated?: boolean }
  | { readonly skipped: string }
  | { readonly error: Pick<ReportedError, 'code' | 'message'> }

/** `LOST`: another agent may have the work by now. `SHUTDOWN`: this agent ends and gives the work back. */
export type StopReason = 'ABORT_REQUESTED' | 'LOST' | 'SHUTDOWN'
export type LogStream = 'STDOUT' | 'STDERR' | 'STEP' | 'SYSTEM'

export interface WorkContext {
  /** Aborts when the work must stop; its `reason` is a StopReason. Then stop, and return the outcome. */
  readonly signal: AbortSignal
  /** Aborts when the lease is lost, also after an abort request: stop at once, since the server accepts no more reports. */
  readonly lost: AbortSignal
  /** Not bound to the context, like `log`: work may destructure it. */
  readonly report: (report: InterimReport) => void
  readonly log: (stream: LogStream, text: string) => void
  /**
   * The place of the span of this work in its trace, for what the work calls, e.g. as the variable `TRACEPARENT`; null: no
   * sampled trace.
   */
  readonly traceparent?: string | null
}

/** Asks the target and changes nothing there. Secrets are masked before they are returned. Null: the lease expires. */
export type DryRun = (
  item: WorkItem,
  context: Pick<WorkContext, 'signal' | 'lost'>,
) => DryRunOutcome | null | Promise<DryRunOutcome | null>

export type Work = (item: WorkItem, context: WorkContext) => WorkOutcome | Promise<WorkOutcome>
