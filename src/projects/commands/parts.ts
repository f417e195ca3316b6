import type { Pool } from 'pg'
import type { System } from '../../core/ports/system.ts'
import type { Verbs } from '../../families/creation.ts'
import type { Trees } from '../../families/family.ts'
import type { Client } from '../../store/client.ts'
import type { Sealing } from '../../store/sealing.ts'

export interface ProjectParts {
  readonly trees: Trees
  readonly system: System
  readonly pool: Pool
  readonly sealing: Sealing
  readonly verbs: Verbs
  /** Wakes what may start under other limits, in the transaction that changes them. */
  limitsChanged(client: Client, now: Date): Promise<void>
}
