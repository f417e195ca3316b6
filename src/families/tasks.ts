import type { LabelInput } from '../core/labels.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Problems } from '../core/problems.ts'
import type { Right } from '../core/rights.ts'
import type { CommandResult } from './access.ts'
import type { RetryPolicyInput } from './retry-policy.ts'

/** Tasks that an event creates: the interface to the family that runs them. */

declare module '../graphql/context.ts' {
  interface FamilyServices {
    /** Absent from a server without the family. */
    readonly tasks?: TaskPort
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
}

export interface TaskPort {
  /** Adds the problems of the jobs. */
  checkJobs(jobs: readonly TaskJob[], path: string, problems: Problems): Promise<void>
  /** Creates a task that the author of a subscription has written, for a viewer with this right. */
  createTaskFor(
    viewer: Viewer,
    right: Right,
    task: {
      readonly project: string
      readonly name: string
      readonly labels: readonly LabelInput[]
      readonly jobs: readonly TaskJob[]
      readonly idempotencyKey: string | null
    },
  ): Promise<CommandResult<'InvalidInputError' | 'ConflictError' | 'ForbiddenError'>>
}
