import type { ObjectFailure } from '../../core/errors.ts'
import type { Phase } from '../../core/vocabulary.ts'

/** Who asked for a job of a root, and why. */

export type RunCause = 'CREATED' | 'CHANGED' | 'REQUESTED' | 'ROLLED_BACK' | 'IMPORTS_CHANGED' | 'DELETED'

/** Who asked for a job; null: the engine did. */
export interface Origin {
  readonly by: string | null
  readonly cause: RunCause
}
/** The origin of the running or last job. */
export interface RunOrigin extends Origin {
  readonly jobId: string
  /** An ISO time. */
  readonly startedAt: string
}

/** How a job of a root has ended. */
export interface RunEnd {
  readonly phase: Phase
  readonly error: ObjectFailure | null
}
