import type { Pool } from 'pg'
import type { LabelInput } from '../../../core/labels.ts'
import type { System } from '../../../core/ports/system.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Problems } from '../../../core/problems.ts'
import type { Right } from '../../../core/rights.ts'
import type { TimeoutDefaults } from '../../../core/tree.ts'
import type { Sealing } from '../../../store/sealing.ts'
import type { CommandResult } from '../../access.ts'
import type { Trees } from '../../family.ts'
import type { TaskJob } from '../rules/spec.ts'

/** The interface to the family that runs tasks. */
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

export interface PipelinesParts {
  readonly trees: Trees
  readonly system: System
  /** For statements without a lock: finding objects, and Prisma. */
  readonly pool: Pool
  /** Seals secrets and signs the tokens of workers. */
  readonly sealing: Sealing
  readonly timeouts: TimeoutDefaults
  readonly tasks: TaskPort
}
