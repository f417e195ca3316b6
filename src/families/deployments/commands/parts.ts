import type { EditorTypes } from '../../../core/deployers/item-types.ts'
import type { System } from '../../../core/ports/system.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { Client } from '../../../store/client.ts'
import type { Sealing } from '../../../store/sealing.ts'
import type { Trees } from '../../family.ts'

export interface CommandParts {
  readonly trees: Trees
  readonly sandbox: Sandbox
  readonly system: System
  readonly editorTypes: EditorTypes
  readonly sealing: Sealing
  /** For finding the tree of an object before locking it. */
  readonly client: Client
}
