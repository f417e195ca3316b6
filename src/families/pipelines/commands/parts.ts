import type { Pool } from 'pg'
import type { System } from '../../../core/ports/system.ts'
import type { TimeoutDefaults } from '../../../core/tree.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { Sealing } from '../../../store/sealing.ts'
import type { Trees } from '../../family.ts'
import type { TaskPort } from '../../tasks.ts'

export interface PipelinesParts {
  readonly trees: Trees
  readonly system: System
  /** For statements without a lock: finding objects, and Prisma. */
  readonly pool: Pool
  /** Signs the tokens of workers, and opens secrets for runtimes. */
  readonly sealing: Sealing
  readonly timeouts: TimeoutDefaults
  /** Evaluates expressions of specs when a runtime claims a workload. */
  readonly sandbox: Pick<Sandbox, 'resolve'>
  /** Absent from a server that runs no tasks. */
  readonly tasks: TaskPort | undefined
}
