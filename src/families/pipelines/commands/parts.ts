import type { Pool } from 'pg'
import type { Ambient } from '../../../core/ports.ts'
import type { TimeoutDefaults } from '../../../core/tree.ts'
import type { Sealing } from '../../../store/sealing.ts'
import type { Trees } from '../../family.ts'

export interface PipelinesParts {
  readonly trees: Trees
  readonly ambient: Ambient
  /** For what needs no lock: looking up where an object stands, and what Prisma does. */
  readonly pool: Pool
  /** What secrets are sealed with, and what workers' tokens are signed with. */
  readonly sealing: Sealing
  readonly timeouts: TimeoutDefaults
}
