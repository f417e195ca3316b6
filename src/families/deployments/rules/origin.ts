import type { ObjectFailure } from '../../../core/errors.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { Phase, ReconcileMode } from '../../../core/vocabulary.ts'

/** The requester and the cause of a root's job. */

export type RunCause = 'CREATED' | 'CHANGED' | 'REQUESTED' | 'ROLLED_BACK' | 'IMPORTS_CHANGED' | 'AUTOMATIC' | 'DELETED'

/** The requester of a job; null: the engine. */
export interface Origin {
  readonly by: string | null
  /** The id of that principal; absent as well if an earlier version has written it. */
  readonly byId?: string
  readonly cause: RunCause
}
export const requestedBy = ({ name, principalId }: Principal, cause: RunCause) => ({
  by: name,
  byId: principalId,
  cause,
})

/** The origin of a job that has not begun. */
export interface PendingOrigin extends Origin {
  /** An ISO time; absent: an earlier version has written it. */
  readonly at?: string
  /** A deletion calls no deployer. Absent: an earlier version has written it, beside the running job. */
  readonly withoutUninstall?: boolean
}
/** The origin of the running or last job. */
export interface RunOrigin extends Origin {
  readonly jobId: string
  /** An ISO time. */
  readonly startedAt: string
  /** The principal that has written the spec that the job uses; absent: nobody is known. */
  readonly editorId?: string
}

/** A job of a root as it was when it ended: the next one may begin before the record is written. */
export interface EndedRun {
  readonly jobId: string
  readonly mode: ReconcileMode
  readonly origin: RunOrigin
  readonly generation: number
  readonly phase: Phase
  readonly error: ObjectFailure | null
  /** Null: it has not succeeded. */
  readonly exports: Readonly<Record<string, unknown>> | null
}
