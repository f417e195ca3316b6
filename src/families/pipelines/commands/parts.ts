import type { Pool } from 'pg'
import type { System } from '../../../core/ports/system.ts'
import type { TimeoutDefaults } from '../../../core/tree.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { Sealing } from '../../../store/sealing.ts'
import type { CommandAccess } from '../../access.ts'
import type { Verbs } from '../../creation.ts'

export interface PipelinesParts extends CommandAccess {
  readonly system: System
  /** For Prisma, too. */
  readonly pool: Pool
  /** Signs the tokens of workers, and opens secrets for runtimes. */
  readonly sealing: Sealing
  readonly timeouts: TimeoutDefaults
  /** Evaluates expressions of specs when a runtime claims a workload. */
  readonly sandbox: Pick<Sandbox, 'resolve'>
  readonly verbs: Verbs
}
