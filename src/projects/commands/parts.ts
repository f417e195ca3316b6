import type { Pool } from 'pg'
import type { System } from '../../core/ports/system.ts'
import type { Trees } from '../../families/family.ts'
import type { TaskPort } from '../../families/tasks.ts'
import type { Client } from '../../store/client.ts'
import type { Sealing } from '../../store/sealing.ts'

export interface ProjectParts {
  readonly trees: Trees
  readonly system: System
  readonly pool: Pool
  readonly sealing: Sealing
  /** Absent from a server that runs no tasks. */
  readonly tasks: TaskPort | undefined
  /** Wakes what may start under other limits, in the transaction that changes them. */
  limitsChanged(client: Client): Promise<void>
}
