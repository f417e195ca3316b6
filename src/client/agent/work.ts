import type { ObjectKind, Phase, WorkAction } from '../../core/vocabulary.ts'

/** One claimed piece of work. The config holds secrets: never log it. */
export interface WorkItem {
  /** Opaque: names job, object, operation and attempt. */
  readonly fence: string
  readonly objectId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly jobId: string | null
  readonly action: WorkAction
  readonly type: string
  readonly target: string | null
  /** With all expressions resolved. */
  readonly config: unknown
  /** From 1; grows with each claim within one job. */
  readonly attempt: number
  /** START of a worker: the token with which it may create jobs of its own event. */
  readonly token: string | null
}

export interface ReportedError {
  readonly code: string
  readonly message: string
  /** With PROGRESSING or DELETING: gives the work back, to be offered again after a backoff. */
  readonly retryable?: boolean
}
export interface ReportedProgress {
  readonly step?: string | null
  readonly value?: number | null
  readonly total?: number | null
  readonly unit?: string | null
}
/** What is told while the work goes on. Progress not sent yet is replaced by newer progress; the last is sent with the end. */
export interface InterimReport {
  /** e.g. RUNNING; deployers need none, since the claim is the pickup. */
  readonly phase?: Phase
  readonly message?: string
  readonly progress?: ReportedProgress
  readonly error?: ReportedError
}
/**
 * How the work ended. For a DELETE the good end is GONE and the bad one DELETE_FAILED; for STOP and REMOVE it is `done`.
 * PROGRESSING or DELETING with a retryable error gives the work back. Null reports nothing: the lease simply ends.
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
  | null

/** `LOST`: somebody else may have the work by now. `SHUTDOWN`: this agent ends, and gives the work back. */
export type StopReason = 'ABORT_REQUESTED' | 'LOST' | 'SHUTDOWN'
export type LogStream = 'STDOUT' | 'STDERR' | 'STEP' | 'SYSTEM'

export interface WorkContext {
  /** Aborts when the work must stop; its `reason` is a StopReason. Then end it, and return what became of it. */
  readonly signal: AbortSignal
  /** Aborts when the lease is lost, after an abort request too: stop at once, nothing is accepted any more. */
  readonly lost: AbortSignal
  /** A function of its own, like `log`: both may be taken out of the context. */
  readonly report: (report: InterimReport) => void
  readonly log: (stream: LogStream, text: string) => void
}

export type Work = (item: WorkItem, context: WorkContext) => WorkOutcome | Promise<WorkOutcome>
