import type { System } from '../../../core/ports/system.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { Client } from '../../../store/client.ts'
import type { AskedVerb } from '../../asked-verb.ts'
import type { Trees } from '../../family.ts'
import type { Trigger } from '../../trigger.ts'

export interface AutomationParts {
  readonly trees: Trees
  readonly sandbox: Sandbox
  readonly system: System
  readonly client: Client
  readonly askedVerbs: readonly AskedVerb[]
  readonly triggers: Readonly<Record<string, Trigger>>
}
