import type { Pool } from 'pg'
import type { System } from '../core/ports/system.ts'
import type { TimeoutDefaults } from '../core/tree.ts'
import type { Kinds } from './families.ts'

/** Dependencies of an engine host. */
export interface EngineParts {
  readonly pool: Pool
  readonly kinds: Kinds
  readonly system: System
  readonly timeouts: TimeoutDefaults
  /** How long a task waits for its tree or its project, in milliseconds; absent: 15 seconds. */
  readonly laneWaitMs?: number
}
