import type { EditorTypes } from '../../../core/deployers/item-types.ts'
import type { System } from '../../../core/ports/system.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { Sealing } from '../../../store/sealing.ts'
import type { CommandAccess } from '../../access.ts'

export interface CommandParts extends CommandAccess {
  readonly sandbox: Sandbox
  readonly system: System
  readonly editorTypes: EditorTypes
  readonly sealing: Sealing
}
