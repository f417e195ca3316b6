import type { System } from '../../../core/ports/system.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { CommandAccess } from '../../access.ts'

export interface OperationsParts extends CommandAccess {
  readonly sandbox: Sandbox
  readonly system: System
}
