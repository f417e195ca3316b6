import type { LabelInput } from '../core/labels.ts'
import type { Problems } from '../core/problems.ts'
import type { CreationVerb } from './creation.ts'
import type { RetryPolicyInput } from './retry-policy.ts'

/** Tasks that an event creates: the interface to the family that runs them. */

declare module './creation.ts' {
  interface Verbs {
    /** Absent from a server without the family. */
    readonly createTask?: TaskVerb
  }
}

/** A job of a task, as a user or a subscription writes it. */
export interface TaskJob {
  readonly name: string
  readonly gadget: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly when?: string | null
  readonly dependsOn?: readonly string[] | null
  readonly retry?: RetryPolicyInput | null
  /** As JSON, which is judged there. */
  readonly gate?: unknown
}

export interface NewTask {
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
  readonly jobs: readonly TaskJob[]
}

export interface TaskVerb extends CreationVerb<NewTask, 'ConflictError'> {
  /** Adds the problems of jobs of a task that is created later. */
  check(jobs: readonly TaskJob[], path: string, problems: Problems): Promise<void>
}
