import type { InvariantCommands } from '../commands/invariants.ts'
import type { FlowCommands } from '../commands/limits.ts'
import './invariant.ts'
import './limit.ts'
import './mutations.ts'

declare module '../../../graphql/context.ts' {
  interface FamilyServices {
    readonly flow: FlowCommands
    readonly invariants: InvariantCommands
  }
}
