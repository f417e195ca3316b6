import type { System } from '../../../core/ports/system.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { CommandAccess } from '../../access.ts'
import type { AskedVerb } from '../../asked-verb.ts'
import type { Trigger } from '../../trigger.ts'

export interface AutomationParts extends CommandAccess {
  readonly sandbox: Sandbox
  readonly system: System
  readonly askedVerbs: readonly AskedVerb[]
  readonly triggers: Readonly<Record<string, Trigger>>
}
